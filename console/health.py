"""Is this installation ready: what keeps people from working, or their work from being looked at."""

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from kombu.exceptions import KombuError

from config.celery import app
from jobs.models import Heartbeat
from jobs.ticks import TICK

WORKER_SILENT = timedelta(seconds=90)  # a tick is due every ten seconds


def problems(now: datetime) -> Iterator[str]:
    """Yield what is wrong, in a few words each."""
    try:
        for check in _DATABASE:
            yield from check(now)
    except DatabaseError:
        yield "the database does not answer or cannot be written"
    yield from _disk(now)
    yield from _broker(now)


def _writable(now: datetime) -> Iterator[str]:
    """Write a row and take it back."""
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


def _disk(_now: datetime) -> Iterator[str]:
    folder = Path(settings.DATA_DIR)
    while not folder.exists():
        folder = folder.parent
    if shutil.disk_usage(folder).free < settings.DISK_FLOOR_BYTES:
        yield "the disk is nearly full"


def _broker(_now: datetime) -> Iterator[str]:
    if not settings.CELERY_BROKER_URL:
        return
    broker = app.connection_for_write(connect_timeout=2)
    try:
        broker.ensure_connection(max_retries=1, timeout=3)
    except (OSError, KombuError):
        yield "the broker does not answer"
    finally:
        broker.release()


_DATABASE: tuple[Callable[[datetime], Iterator[str]], ...] = (_writable, _migrated, _worker)
