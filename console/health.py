"""The readiness of this installation: problems that keep people from working, or their work from being reviewed."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Min
from kombu.exceptions import KombuError

from config.celery import app
from jobs.models import Heartbeat, Job, JobState
from jobs.ticks import TICK
from web.readiness import Check, Readiness, cache_table, clocks_agree, database_problems, disk, limits_cache, migrated

WORKER_SILENT = timedelta(seconds=90)  # a tick is due every ten seconds
LANE_SILENT = timedelta(seconds=90)  # that a due job may wait while no other job of its lane is being worked on
BROKER_SECONDS = 2.0  # of each step: connecting, and each answer of the broker


def problems(now: datetime) -> Iterator[str]:
    """Yield the current problems, in a few words each."""
    yield from database_problems(_DATABASE, now)
    yield from disk(now)
    yield from limits_cache(now)
    yield from _broker(now)


def _writable(now: datetime) -> Iterator[str]:
    """Write a row and roll it back."""
    with transaction.atomic():
        Heartbeat.objects.update_or_create(name="ready", defaults={"at": now})
        transaction.set_rollback(True)
    yield from ()


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


_DATABASE: tuple[Check, ...] = (migrated, _writable, cache_table, clocks_agree, _worker, _lanes)
readiness = Readiness(problems)
