"""The readiness of the marketplace: problems that keep people from working, or requesters from hearing of it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction

from marketplace import clock
from marketplace.models import Delivery, UsedSignature
from web.readiness import Check, Readiness, cache_table, clocks_agree, database_problems, disk, limits_cache, migrated

SWEEP_SILENT = timedelta(seconds=90)  # that a due message may wait; what fails is due again later


def problems(now: datetime) -> Iterator[str]:
    """Yield the current problems, in a few words each."""
    yield from database_problems(_DATABASE, now)
    yield from disk(now)
    yield from limits_cache(now)


def _writable(now: datetime) -> Iterator[str]:
    """Write a row and roll it back."""
    with transaction.atomic():
        UsedSignature.objects.update_or_create(signature="ready", defaults={"used_at": now})
        transaction.set_rollback(True)
    yield from ()


def _swept(_now: datetime) -> Iterator[str]:
    """Check that due messages are sent, which the sweep does."""
    now = clock.now()
    due_at = Delivery.objects.filter(due_at__lt=now - SWEEP_SILENT).order_by("due_at").values_list("due_at", flat=True)
    if (oldest := due_at.first()) is not None:
        yield f"messages to requesters haven't been sent for {(now - oldest).total_seconds():.0f} seconds"


_DATABASE: tuple[Check, ...] = (migrated, _writable, cache_table, clocks_agree, _swept)
readiness = Readiness(problems)
