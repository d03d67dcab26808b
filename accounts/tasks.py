"""The sweeps of the accounts app."""

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session

from accounts.identities import unconfirmed_delete
from accounts.models import User
from web.signups import UNCONFIRMED


def sessions_forget(now: datetime) -> None:
    """Delete sessions that have expired, some at a time."""
    expired = Session.objects.filter(expire_date__lt=now).order_by("expire_date").values_list("pk", flat=True)
    Session.objects.filter(pk__in=list(expired[:500])).delete()


def sign_ups_forget(now: datetime) -> None:
    """Delete accounts whose address nobody confirmed within a day, some at a time."""
    left = User.objects.filter(email__endswith=UNCONFIRMED, last_login=None, date_joined__lt=now - timedelta(days=1))
    for user in left.order_by("pk")[:100]:
        unconfirmed_delete(user)


SWEEPS = [sessions_forget, sign_ups_forget]
