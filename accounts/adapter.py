"""Sign-up is by invitation."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import Surrogate

INVITATION_KEY = "invitation"


class InvitationAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # untyped library
    """Open the sign-up form only to who followed an invitation, and bring them back to it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Say whether a new account may be made in this session."""
        return INVITATION_KEY in request.session

    def new_user(self, request: HttpRequest) -> Any:
        """Return an unsaved user with a surrogate of their own."""
        user: Any = super().new_user(request)
        user.surrogate = Surrogate.objects.create()
        return user

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the invitation that brought somebody here, or the home page."""
        token = request.session.get(INVITATION_KEY)
        return reverse("invitation", args=[token]) if token else str(super().get_login_redirect_url(request))

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Return the same as after a login."""
        return self.get_login_redirect_url(request)
