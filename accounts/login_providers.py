"""Logins by other providers (OpenID Connect, SAML): the first one creates an account."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.http import HttpRequest

from accounts.login_file import LoginProvider
from accounts.models import NAME_LENGTH, Surrogate, User


class ProvidedAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # untyped library
    """Accounts of people who log in by a provider that the administrator configured."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return whether the provider vouches for an address: an account with another person's would wait for them."""
        return any(one.verified for one in sociallogin.email_addresses)

    def new_user(self, request: HttpRequest, sociallogin: SocialLogin) -> User:
        """Return an unsaved user; it has no surrogate before it is saved, because most logins find an account."""
        return User()

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> Any:
        """Return the user with the address and the name that the provider gave."""
        user = super().populate_user(request, sociallogin, data)
        parts = (data.get("name") or f"{data.get('first_name') or ''} {data.get('last_name') or ''}").split()
        user.name = " ".join(parts)[:NAME_LENGTH]
        return user

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> Any:
        """Save a new account, which has no password, and the address that the provider vouches for."""
        user = sociallogin.user
        user.surrogate = Surrogate.objects.create()
        user.set_unusable_password()
        sociallogin.save(request)
        return user


def provider_named(provider_id: str) -> LoginProvider | None:
    """Return the provider with this id."""
    return next((one for one in settings.LOGIN_PROVIDERS if one.id == provider_id), None)


def provider_of(account: SocialAccount) -> LoginProvider | None:
    """Return the provider of an account; one that is no longer configured is None."""
    return provider_named(account.provider)


def groups_of(provider: LoginProvider, extra_data: dict[str, Any]) -> frozenset[str]:
    """Return the groups in what a provider said of a person."""
    places = (extra_data.get("userinfo"), extra_data.get("id_token"), extra_data)
    found = next((one[provider.groups_claim] for one in places if one and one.get(provider.groups_claim)), ())
    return frozenset([found] if isinstance(found, str) else map(str, found or ()))


def person_named(provider: LoginProvider, *, subject: str = "", email: str = "") -> User | None:
    """Return the person whom a provider means, by its subject or by an address that they confirmed."""
    if subject:
        account = SocialAccount.objects.select_related("user").filter(provider=provider.id, uid=subject).first()
        return account.user if account else None
    theirs = SocialAccount.objects.filter(provider=provider.id).values("user")
    address = EmailAddress.objects.select_related("user").filter(email__iexact=email, verified=True, user__in=theirs)
    found = address.first()
    return found.user if found else None
