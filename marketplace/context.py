"""What every page of the worker site shows."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from marketplace.models import Worker


def site(request: HttpRequest) -> dict[str, Any]:
    """Return whether there are unread messages and whether people can sign up by themselves."""
    user = getattr(request, "user", None)
    unread = isinstance(user, Worker) and user.messages_received.filter(read_at=None).exists()
    return {"has_unread": unread, "open_signup": settings.MARKETPLACE_OPEN_SIGNUP}
