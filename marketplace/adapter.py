"""Sign-up of workers: open, or by invitation."""

from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from marketplace import clock
from marketplace.protocol.ids import customer_id
from marketplace.services.workers import invitation_is_usable, invitation_use
from web.logins import FailuresByAddress
from web.mails import with_our_address
from web.signups import NamedAddresses

INVITATION_KEY = "signup_invitation"


class WorkerAdapter(FailuresByAddress, NamedAddresses, DefaultAccountAdapter):  # type: ignore[misc]  # untyped library
    """Shows the sign-up form if the settings or an invitation permit it."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether an account may be made in this session."""
        token_sha256 = request.session.get(INVITATION_KEY, "")
        return settings.MARKETPLACE_OPEN_SIGNUP or invitation_is_usable(token_sha256=token_sha256, now=clock.now())

    def is_safe_url(self, url: str | None) -> bool:
        """Return whether a login may redirect to a URL: only to this site, not to requesters' content."""
        host = urlsplit(settings.MARKETPLACE_URL).netloc
        return bool(url_has_allowed_host_and_scheme(url, allowed_hosts={host}))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Write to a person."""
        super().send_mail(template_prefix, email, with_our_address(context, settings.MARKETPLACE_URL))

    def new_user(self, request: HttpRequest) -> Any:
        """Return an unsaved worker with an id of their own."""
        worker: Any = super().new_user(request)
        worker.worker_id = customer_id()
        worker.joined_at = clock.now()
        return worker

    def discard_unconfirmed(self, user: Any) -> None:
        """Delete the account of a worker who never logged in."""
        user.delete()

    def save_user(self, request: HttpRequest, user: Any, form: Any, commit: bool = True) -> Any:  # noqa: FBT001, FBT002
        """Save a new worker and take a use of the invitation, in one transaction.

        Raises
        ------
        PermissionDenied
            Another person took the last use after the form was shown.
        """
        with transaction.atomic():
            token_sha256 = request.session.get(INVITATION_KEY, "")
            taken = bool(token_sha256) and invitation_use(token_sha256=token_sha256, now=clock.now())
            if not taken and not settings.MARKETPLACE_OPEN_SIGNUP:
                raise PermissionDenied
            return super().save_user(request, user, form, commit)
