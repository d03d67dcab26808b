"""Readiness probes: the checks that both services share, and a result that is cached for some seconds."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpResponse
from django.utils import timezone

Check = Callable[[datetime], Iterator[str]]

KEPT_SECONDS = 5.0
CLOCKS_APART = timedelta(seconds=5)


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

    def response(self, now: datetime) -> HttpResponse:
        """Return the answer to a probe: "ok", or 503 with one problem per line."""
        found = self.problems(now)
        text = "\n".join(found) or "ok"
        return HttpResponse(f"{text}\n", status=503 if found else 200, content_type="text/plain")


def database_problems(checks: tuple[Check, ...], now: datetime) -> Iterator[str]:
    """Yield the problems that checks of the database find, or that it doesn't respond."""
    try:
        for check in checks:
            yield from (found := list(check(now)))
            if found and check is migrated:
                return  # the others would stumble over missing tables
    except DatabaseError:
        yield "the database doesn't respond or cannot be written"


def migrated(_now: datetime) -> Iterator[str]:
    """Check that the database has this version's tables."""
    if not _is_migrated():
        _is_migrated.cache_clear()
        yield "migrations are not applied"


@cache
def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def clocks_agree(_now: datetime) -> Iterator[str]:
    """Check that this machine's clock and the database server's agree: leases and deadlines compare both.

    The server's time lies between two of ours, however long the answer takes.
    """
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        earliest = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        theirs = cursor.fetchone()[0]
        apart = max(earliest - theirs, theirs - timezone.now())
    if apart > CLOCKS_APART:
        yield f"the clocks of this machine and of the database differ by {apart.total_seconds():.0f} seconds"


def cache_table(_now: datetime) -> Iterator[str]:
    """Check that the table of the cache was created, if one is used."""
    for one in caches.all():
        if isinstance(one, DatabaseCache):
            try:
                with transaction.atomic():
                    one.get("ready")
            except DatabaseError:
                yield "the cache's table is missing: run manage.py createcachetable"


def disk(_now: datetime) -> Iterator[str]:
    """Check that there is room on the disk."""
    folder = Path(settings.DATA_DIR)
    while not folder.exists():
        folder = folder.parent
    if shutil.disk_usage(folder).free < settings.DISK_FLOOR_BYTES:
        yield "the disk is nearly full"


def limits_cache(_now: datetime) -> Iterator[str]:
    """Check that the cache's Redis responds, if there is one."""
    is_there = getattr(caches["default"], "is_there", None)
    if is_there is not None and not is_there():
        yield "the cache doesn't respond; limits of logins are counted in the database"
