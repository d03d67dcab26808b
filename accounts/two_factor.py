"""Two factors by role: people with certain roles set the second one up before they see any other page.

It is decided at each login with a password. Those who log in by a provider use the provider's own factors.
"""

from collections.abc import Callable
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.models import Membership, User

MISSING = "two_factor_missing"  # in the session
OPEN = ("/account/2fa/", "/account/logout/", "/account/reauthenticate/", "/i18n/", "/jsi18n/", "/session/")


def two_factor_check(request: HttpRequest, user: User, sociallogin: Any = None, **_options: Any) -> None:
    """Note in the session that a person who has just logged in needs a second factor and has none."""
    if sociallogin is None and two_factor_is_missing(user):
        request.session[MISSING] = True


def two_factor_is_missing(user: User) -> bool:
    """Return whether a person has a role that needs a second factor, and has none."""
    roles = settings.TWO_FACTOR_ROLES
    if not roles:
        return False
    by_role = Membership.objects.filter(user=user, role__in=roles)
    return ((user.is_admin and "admin" in roles) or by_role.exists()) and not is_mfa_enabled(user)


def two_factor_added(request: HttpRequest, **_options: Any) -> None:
    """Let a person go on who has set up a second factor."""
    request.session.pop(MISSING, None)


class TwoFactorMiddleware:
    """Lead people who need a second factor to the page that sets it up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.TWO_FACTOR_ROLES:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, or redirect it."""
        if request.session.get(MISSING) and not request.path.startswith(OPEN):
            messages.info(request, _("Your role needs a second factor. Set it up to continue."))
            return redirect("mfa_activate_totp")
        return self.get_response(request)
