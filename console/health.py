"""The readiness of this installation: problems that keep people from working, or their work from being reviewed."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Min
from kombu.exceptions import KombuError

from config.celery import app
from jobs.models import Heartbeat, Job, JobState
from jobs.ticks import TICK

WORKER_SILENT = timedelta(seconds=90)  # a tick is due every ten seconds
LANE_SILENT = timedelta(seconds=90)  # that a due job may wait while no other job of its lane is being worked on
KEPT_SECONDS = 5.0
BROKER_SECONDS = 2.0  # of each step: connecting, and each answer of the broker


class Readiness:
    """The current problems, checked by one request at a time and cached for some seconds.

    Anyone may ask. If a service is frozen, only one request waits for its check, however many arrive.
    """

    def __init__(self, look: Callable[[datetime], Iterator[str]]) -> None:
        self._look, self._lock = look, threading.Lock()
        self._found: tuple[str, ...] = ("the first check is still running",)
        self._until = 0.0

    def problems(self, now: datetime) -> tuple[str, ...]:
        """Return the last result, or check again if it is outdated and no other request is checking."""
        if time.monotonic() >= self._until and self._lock.acquire(blocking=False):
            try:
                self._found = tuple(self._look(now))
                self._until = time.monotonic() + KEPT_SECONDS
            finally:
                self._lock.release()
        return self._found

    def forget(self) -> None:
        """Check again at the next request."""
        self._until = 0.0


def problems(now: datetime) -> Iterator[str]:
    """Yield the current problems, in a few words each."""
    try:
        for check in _DATABASE:
            yield from check(now)
    except DatabaseError:
        yield "the database doesn't respond or cannot be written"
    yield from _disk(now)
    yield from _broker(now)


def _writable(now: datetime) -> Iterator[str]:
    """Write a row and roll it back."""
    with transaction.atomic():
        Heartbeat.objects.update_or_create(name="ready", defaults={"at": now})
        transaction.set_rollback(True)
    yield from ()


def _migrated(_now: datetime) -> Iterator[str]:
    if not _is_migrated():
        _is_migrated.cache_clear()
        yield "migrations are not applied"


@cache
def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _worker(now: datetime) -> Iterator[str]:
    if not Heartbeat.objects.filter(name=TICK, at__gte=now - WORKER_SILENT).exists():
        yield "no worker was seen lately"


def _lanes(now: datetime) -> Iterator[str]:
    """Yield each lane whose jobs wait while none of them is being processed."""
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    working = unfinished.filter(state=JobState.RUNNING, lease_until__gt=now).values("lane")
    late = unfinished.filter(due_at__lt=now - LANE_SILENT).exclude(lane__in=working)
    for lane, due_at in late.order_by("lane").values_list("lane").annotate(oldest=Min("due_at")):
        yield f"the lane {lane} has had no worker for {(now - due_at).total_seconds():.0f} seconds"


def _disk(_now: datetime) -> Iterator[str]:
    folder = Path(settings.DATA_DIR)
    while not folder.exists():
        folder = folder.parent
    if shutil.disk_usage(folder).free < settings.DISK_FLOOR_BYTES:
        yield "the disk is nearly full"


def _broker(_now: datetime) -> Iterator[str]:
    if not settings.CELERY_BROKER_URL:
        return
    # Kombu gives options to the transport that it knows; Redis and RabbitMQ call the time for an answer differently.
    limits = {
        "socket_timeout": BROKER_SECONDS,
        "socket_connect_timeout": BROKER_SECONDS,
        "read_timeout": BROKER_SECONDS,
    }
    broker = app.connection_for_write(connect_timeout=BROKER_SECONDS, transport_options=limits)
    try:
        broker.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)
    except (OSError, KombuError):
        yield "the broker doesn't respond"
    finally:
        broker.release()


_DATABASE: tuple[Callable[[datetime], Iterator[str]], ...] = (_writable, _migrated, _worker, _lanes)
readiness = Readiness(problems)
