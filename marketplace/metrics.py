"""What each scrape of the marketplace's ``/metrics`` reads: waiting messages, unreviewed work, and the disk."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min

from marketplace import clock
from marketplace.health import problems
from marketplace.models import Delivery
from web.metrics import Reading, machine_readings


def readings(now: datetime) -> Iterator[Reading]:
    """Yield the current values; raises `DatabaseError` if the database doesn't respond."""
    yield Reading("quorate_problems", "Problems that /readyz reports", len(list(problems(now))))
    yield from machine_readings()
    waiting = Delivery.objects.filter(due_at__isnull=False).aggregate(number=Count("pk"), oldest=Min("due_at"))
    late = (clock.now() - waiting["oldest"]).total_seconds() if waiting["oldest"] else 0.0
    yield Reading("quorate_messages_waiting", "Messages to requesters that aren't delivered", waiting["number"])
    yield Reading("quorate_messages_oldest_seconds", "Time since the oldest was due", max(0.0, late))
