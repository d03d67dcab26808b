"""The context processor that tells all templates who is logged in."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import salted_hmac

from accounts.login_file import LoginProvider
from accounts.models import User


def person(request: HttpRequest) -> dict[str, Any]:
    """Return the mark of the logged-in person, and the ways to log in.

    By the mark, a tab never sends one person's text as another's.
    """
    return {
        "person_mark": person_mark(getattr(request, "user", None)),
        "login_providers": login_providers,  # called where a template shows them
        "password_login": settings.PASSWORD_LOGIN,
    }


def login_providers() -> list[dict[str, str]]:
    """Return the name of each login provider, and the address of its form."""
    return [{"name": one.name, "url": _address(one)} for one in settings.LOGIN_PROVIDERS]


def _address(provider: LoginProvider) -> str:
    if provider.kind == "openid":
        return reverse("openid_connect_login", kwargs={"provider_id": provider.id})
    return reverse("saml_login", kwargs={"organization_slug": provider.id})


def person_mark(user: object) -> str:
    """Return a mark that differs by person and doesn't identify them; empty if nobody is logged in."""
    if not isinstance(user, User):
        return ""
    return salted_hmac("quorate.person", str(user.pk)).hexdigest()[:16]
