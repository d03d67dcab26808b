"""Template context of every page of the worker site."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from database.statements import Statement
from marketplace.models import Worker, WorkerMessage

_UNREAD = Statement(
    lambda worker: WorkerMessage.objects.filter(worker_id=worker, read_at=None).values_list("pk")[:1], int
)


def site(request: HttpRequest) -> dict[str, Any]:
    """Return whether there are unread messages and whether people can sign up by themselves."""
    user = getattr(request, "user", None)
    unread = isinstance(user, Worker) and bool(_UNREAD.rows(user.pk))
    return {"has_unread": unread, "open_signup": settings.MARKETPLACE_OPEN_SIGNUP}
