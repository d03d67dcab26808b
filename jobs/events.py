"""Events for programs outside: an append-only feed, written in the transactions of the changes that it reports.

An event names things by their ids and says nothing about answers or labels, so the feed of a sealed split tells nothing.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max

from database.transactions import require_transaction
from jobs.models import Event
from web.marks import gettext_noop as _

KINDS = {
    "item.labeled": _("An item has a label"),
    "batch.finished": _("All items of a batch have their annotations"),
    "campaign.opened": _("A campaign was opened"),
    "campaign.paused": _("A campaign was paused"),
    "campaign.closed": _("A campaign was closed"),
    "person.warned": _("An annotator was warned"),
    "person.paused": _("An annotator was paused"),
    "person.suspended": _("An annotator was suspended"),
    "person.reinstated": _("An annotator can work again"),
    "gold.short": _("Gold questions are running low"),
    "case.opened": _("An item was sent to experts"),
    "audit.finished": _("A label audit has its result"),
    "certificate.finished": _("A certificate was reached, or its audit ended without one"),
    "release.ready": _("The files of a release are written"),
    "release.published": _("A release is public on a hub"),
    "job.failed": _("A job failed"),
    "budget.reached": _("Spending reached 80 percent of its cap"),
}
KEPT_DAYS = 90
CHUNK = 500


def event_add(*, kind: str, scope_id: UUID, now: datetime, key: str = "", **data: Any) -> None:
    """Add an event in the transaction of the change that it reports. With a key that exists already: do nothing."""
    events_add(kind=kind, scope_id=scope_id, now=now, rows=[data], key=key)


def events_add(*, kind: str, scope_id: UUID, now: datetime, rows: Iterable[Mapping[str, Any]], key: str = "") -> None:
    """Add several events of one kind in one statement."""
    require_transaction()
    if kind not in KINDS:
        raise KeyError(kind)
    made = [Event(scope_id=scope_id, kind=kind, key=key, data=dict(data), at=now) for data in rows]
    Event.objects.bulk_create(made, batch_size=CHUNK, ignore_conflicts=bool(key))


def events_number(limit: int = CHUNK) -> list[Event]:
    """Give the next events their numbers, and return them. Only one process at a time may do this."""
    require_transaction()
    rows = list(Event.objects.filter(number=None).order_by("pk")[:limit])
    last = Event.objects.aggregate(last=Max("number"))["last"] or 0
    for place, row in enumerate(rows, start=1):
        row.number = last + place
    Event.objects.bulk_update(rows, ["number"], batch_size=CHUNK)
    return rows


def events_forget(now: datetime) -> None:
    """Delete events after a while; programs that read the feed have had the time to."""
    Event.objects.filter(at__lt=now - timedelta(days=KEPT_DAYS), number__isnull=False).delete()
