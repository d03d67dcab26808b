"""Sign-up with allauth: only people with an invitation can create an account."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.identities import unconfirmed_delete
from accounts.models import Surrogate, User
from accounts.services import InvitationError, invitation_find
from web.logins import FailuresByAddress
from web.mails import with_our_address
from web.signups import NamedAddresses, PlainLoginForm

# The hash of the token a person followed: the session store must not hold what opens the door.
INVITATION_KEY = "invitation_sha256"


class PasswordLoginForm(PlainLoginForm):
    """The form for a login with a password; where these are switched off, only administrators can use it.

    They need a way in while a provider is away.
    """

    def clean(self) -> Any:
        """Refuse people who have to log in by a provider, after their password was checked."""
        cleaned = super().clean()
        user: Any = getattr(self, "user", None)
        if not settings.PASSWORD_LOGIN and user is not None and not _is_lasting_admin(user):
            raise ValidationError(_("Log in with your organization's account."))
        return cleaned


def _is_lasting_admin(user: User) -> bool:
    """Return whether a person is an administrator by the shell: a provider's groups are read only at its logins."""
    return user.is_admin and not user.provided_roles.filter(role="admin").exists()


class InvitationAdapter(FailuresByAddress, NamedAddresses, DefaultAccountAdapter):  # type: ignore[misc]  # untyped library
    """Open the sign-up form only to who followed a usable invitation, and bring them back to it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether a new account with a password may be made in this session."""
        if not settings.PASSWORD_LOGIN:
            return False
        try:
            invitation_find(token_sha256=request.session.get(INVITATION_KEY, ""), now=timezone.now())
        except InvitationError:
            return False
        return True

    def clean_email(self, email: str) -> str:
        """Refuse another account's address where addresses aren't confirmed: accounts couldn't be told apart later."""
        email = str(super().clean_email(email))
        user = self.request.user if self.request else None
        others = User.objects.filter(email__iexact=email)
        is_open = settings.ACCOUNT_EMAIL_VERIFICATION != "mandatory"
        if isinstance(user, User) and is_open and others.exclude(pk=user.pk).exists():
            raise ValidationError(_("You can't use this email address. Enter another one."))
        return email

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an email whose links use the address of this platform."""
        super().send_mail(template_prefix, email, with_our_address(context, settings.PLATFORM_URL))

    def new_user(self, request: HttpRequest) -> Any:
        """Return an unsaved user with a surrogate of their own."""
        user: Any = super().new_user(request)
        user.surrogate = Surrogate.objects.create()
        return user

    def save_user(self, request: HttpRequest, user: Any, form: Any, commit: bool = True) -> Any:  # noqa: FBT001, FBT002  allauth's
        """Save an account with the name that its owner gave."""
        user.name = form.cleaned_data.get("name", "").strip()
        return super().save_user(request, user, form, commit)

    def discard_unconfirmed(self, user: User) -> None:
        """Delete an account whose address was never confirmed: nobody ever logged in to it."""
        unconfirmed_delete(user)

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the invitation that brought a person here, or the home page."""
        if INVITATION_KEY in request.session:
            return reverse("invitation-accept")
        return str(super().get_login_redirect_url(request))

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Return the page to open after sign-up, which is the same as after a login."""
        return self.get_login_redirect_url(request)
