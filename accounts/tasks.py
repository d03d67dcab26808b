"""The sweeps of the accounts app."""

from datetime import datetime

from django.contrib.sessions.models import Session


def sessions_forget(now: datetime) -> None:
    """Delete sessions that have expired, some at a time."""
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date").values_list("pk", flat=True)
    Session.objects.filter(pk__in=list(expired[:500])).delete()


SWEEPS = [sessions_forget]
