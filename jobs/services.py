"""How jobs come about, are taken, and end."""

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, close_old_connections, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from jobs.models import Job, JobState
from jobs.registry import HANDLERS
from jobs.work import LeaseLost, RetryLater, Work

logger = logging.getLogger(__name__)

Listener = Callable[[Job], None]


def job_enqueue(
    *,
    kind: str,
    payload: dict[str, Any],
    now: datetime,
    scope_id: UUID | None = None,
    requested_by_id: UUID | None = None,
    key: str = "",
) -> Job:
    """Add a job; with a key, return the unfinished one of that key instead of a second."""
    if kind not in HANDLERS:
        raise KeyError(f"no handler for jobs of kind {kind!r}")
    with transaction.atomic():
        defaults = {
            "kind": kind, "payload": payload, "scope_id": scope_id, "requested_by_id": requested_by_id,
            "due_at": now, "created_at": now,
        }  # fmt: skip
        unfinished = Q(state__in=[JobState.QUEUED, JobState.RUNNING])
        if key:
            job, created = Job.objects.filter(unfinished).get_or_create(key=key, defaults=defaults)
        else:
            job, created = Job.objects.create(**defaults), True
        if created:
            transaction.on_commit(lambda: job_announce(job_id=job.pk))
    return job


def job_announce(*, job_id: UUID) -> None:
    """Tell a broker, where there is one. A message that gets lost is made good by the tick."""
    if not settings.CELERY_BROKER_URL:
        return
    from jobs.tasks import run_job  # noqa: PLC0415  Celery is loaded only where a broker is configured

    try:
        run_job.apply_async(kwargs={"job_id": str(job_id)}, retry=False)
    except Exception:
        logger.warning("job %s could not be announced; the tick will find it", job_id, exc_info=True)


def _due(now: datetime) -> Q:
    return Q(state=JobState.QUEUED, due_at__lte=now) | Q(state=JobState.RUNNING, lease_until__lt=now)


def jobs_due(*, now: datetime, limit: int) -> list[UUID]:
    """Return jobs that wait or whose worker went silent, oldest first."""
    return list(Job.objects.filter(_due(now)).order_by("due_at", "id").values_list("pk", flat=True)[:limit])


def job_take(*, job_id: UUID, now: datetime, listener: Listener | None = None) -> Work | None:
    """Take the lease of a due job; None when somebody else was quicker."""
    taken = Job.objects.filter(_due(now), pk=job_id).update(
        state=JobState.RUNNING,
        attempt=F("attempt") + 1,
        lease_until=now + timedelta(seconds=settings.JOB_LEASE_SECONDS),
    )
    return Work(Job.objects.get(pk=job_id), listener) if taken else None


def job_run(*, job_id: UUID, listener: Listener | None = None) -> bool:
    """Run a due job to its end, telling a listener of its progress; return whether this call had its lease."""
    work = job_take(job_id=job_id, now=timezone.now(), listener=listener)
    if work is not None:
        _run(work)
    return work is not None


def job_run_here(*, kind: str, payload: dict[str, Any], listener: Listener, scope_id: UUID | None = None) -> Job:
    """Add a job that this process holds from the first moment, run it, and return it as it ended."""
    if kind not in HANDLERS:
        raise KeyError(f"no handler for jobs of kind {kind!r}")
    now = timezone.now()
    job = Job.objects.create(
        kind=kind, payload=payload, scope_id=scope_id, state=JobState.RUNNING, attempt=1, due_at=now, created_at=now,
        lease_until=now + timedelta(seconds=settings.JOB_LEASE_SECONDS),
    )  # fmt: skip
    _run(Work(job, listener))
    job.refresh_from_db()
    return job


def _run(work: Work) -> None:
    job = work.job
    if job.attempt > job.max_attempts:
        _finish(work, JobState.FAILED, error=job.error or "the worker ended every attempt before it was done")
        return
    try:
        with _heartbeat(work):
            result = HANDLERS[job.kind](work)
        _finish(work, JobState.DONE, result={**job.result, **result})
    except LeaseLost:
        logger.warning("job %s was taken over by another worker", job.pk)
    except RetryLater as error:
        _retry(work, str(error))
    except ValueError as error:  # what was asked for cannot be done: said to who asked, no fault of ours
        logger.warning("job %s (%s) was refused: %s", job.pk, job.kind, error)
        _finish(work, JobState.FAILED, error=str(error) or traceback.format_exc(limit=-3))
    except Exception:
        logger.exception("job %s (%s) failed", job.pk, job.kind)
        _finish(work, JobState.FAILED, error=traceback.format_exc(limit=-3))


def jobs_run_due(*, limit: int = 100) -> int:
    """Run what is due, one after another; return how many ran."""
    return sum(job_run(job_id=job_id) for job_id in jobs_due(now=timezone.now(), limit=limit))


def job_retry(*, job_id: UUID, now: datetime) -> bool:
    """Queue a failed job again; refuse when another of its key is on its way already."""
    try:
        with transaction.atomic():
            queued = Job.objects.filter(pk=job_id, state=JobState.FAILED).update(
                state=JobState.QUEUED, due_at=now, attempt=0, error="", finished_at=None
            )
    except IntegrityError:
        return False
    if queued:
        job_announce(job_id=job_id)
    return bool(queued)


def _finish(work: Work, state: JobState, *, result: dict[str, Any] | None = None, error: str = "") -> None:
    changes: dict[str, Any] = {"state": state, "finished_at": timezone.now(), "lease_until": None, "error": error}
    if result is not None:
        changes["result"] = result
    Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING).update(**changes)


def _retry(work: Work, reason: str) -> None:
    delay = timedelta(seconds=min(300, 2**work.attempt))
    Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING).update(
        state=JobState.QUEUED, due_at=timezone.now() + delay, lease_until=None, error=reason
    )


@contextmanager
def _heartbeat(work: Work) -> Iterator[None]:
    """Renew the lease while the handler is busy between steps."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(settings.JOB_LEASE_SECONDS / 3):
            Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING).update(
                lease_until=timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
            )
            close_old_connections()
        connection.close()

    thread = threading.Thread(target=beat, name=f"heartbeat-{work.job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
