"""Create, run and end jobs."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, IntegrityError, close_old_connections, connection, transaction
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from database.transactions import is_transient
from jobs.events import event_add
from jobs.models import Job, JobState
from jobs.registry import Lane, kind_named, kinds
from jobs.wakeups import workers_wake
from jobs.work import LeaseLost, RetryLater, Work, WorkerStopping
from web.acting import acting_by
from web.errors import KeyedError
from web.metrics import BROKER_FAILURES, JOB_SECONDS, JOBS
from web.request_log import logged_as

logger = logging.getLogger(__name__)

Listener = Callable[[Job], None]

RUN_TASK = "jobs.run"  # the Celery task
MOST_STALLED = 5  # attempts without progress until a job is given up
MOST_BACKOFF_SECONDS = 300
SILENCE_SECONDS, MOST_SILENCE_SECONDS = 15, 3600  # until a job that nobody took is announced again
FAILURE_PAUSE_SECONDS = 300
FAILED_DAYS = 30  # so long a failed job can be tried again
CLOCK_SLACK_SECONDS = 60  # by which the clocks of two machines may differ


def job_enqueue(
    *,
    kind: str,
    payload: Mapping[str, Any],
    now: datetime,
    scope_id: UUID | None = None,
    requested_by_id: UUID | None = None,
    key: str = "",
) -> Job:
    """Add a job; if an unfinished job has the same key, return that job instead."""
    lane = kind_named(kind).lane
    with transaction.atomic():
        defaults = {
            "kind": kind,
            "lane": lane,
            "payload": dict(payload),
            "scope_id": scope_id,
            "requested_by_id": requested_by_id,
            "due_at": now,
            "created_at": now,
        }
        unfinished = Q(state__in=[JobState.QUEUED, JobState.RUNNING])
        if key:
            job, created = Job.objects.filter(unfinished).get_or_create(key=key, defaults=defaults)
        else:
            job, created = Job.objects.create(**defaults), True
        if created:
            transaction.on_commit(lambda: job_announce(job=job))
    return job


def job_failed_lately(*, key: str, now: datetime) -> bool:
    """Return whether a job with this key failed minutes ago; a sweep then waits before requesting it again."""
    recent = now - timedelta(seconds=FAILURE_PAUSE_SECONDS)
    return Job.objects.filter(key=key, state=JobState.FAILED, finished_at__gt=recent).exists()


def job_announce(*, job: Job) -> None:
    """Notify the workers, through a broker if there is one. If the message is lost, the tick sends it again."""
    if not settings.CELERY_BROKER_URL:
        workers_wake()
        return
    from config.celery import app  # noqa: PLC0415  loaded only where a broker is configured

    Job.objects.filter(pk=job.pk).update(announced_at=timezone.now(), announcements=F("announcements") + 1)
    try:
        app.send_task(RUN_TASK, kwargs={"job_id": str(job.pk)}, queue=job.lane, retry=False)
    except Exception:
        BROKER_FAILURES.add()
        logger.warning("job %s could not be announced; the tick will find it", job.pk, exc_info=True)


def jobs_announce_due(*, now: datetime, limit: int = 1000) -> int:
    """Announce due jobs again, at growing intervals, in case messages were lost; return the number of jobs.

    Without growing intervals, messages would pile up while no worker is listening.
    """
    announced = 0
    for job in Job.objects.filter(_due(now)).order_by("due_at", "id")[:limit]:
        pause = timedelta(seconds=min(MOST_SILENCE_SECONDS, SILENCE_SECONDS * 2 ** min(job.announcements, 20)))
        if job.announced_at is None or not now - pause < job.announced_at <= now:
            job_announce(job=job)
            announced += 1
    return announced


def _due(now: datetime) -> Q:
    """Return the condition for due jobs: queued ones, those of silent workers, and those with times too far ahead."""
    beyond = now + timedelta(seconds=settings.JOB_LEASE_SECONDS + CLOCK_SLACK_SECONDS)
    silent = Q(lease_until__lt=now) | Q(lease_until__gt=beyond)
    waits = Q(due_at__lte=now) | Q(due_at__gt=now + timedelta(seconds=MOST_BACKOFF_SECONDS + CLOCK_SLACK_SECONDS))
    return Q(state=JobState.QUEUED) & waits | Q(state=JobState.RUNNING) & silent


def jobs_due(*, now: datetime, limit: int, lanes: Collection[str] = ()) -> list[UUID]:
    """Return due jobs of some lanes (of all by default): queued ones, and those whose worker went silent.

    Campaigns take turns: first the oldest job of each campaign, then the second of each.
    """
    jobs = Job.objects.filter(_due(now))
    if lanes:
        jobs = jobs.filter(lane__in=lanes)
    turn = Window(RowNumber(), partition_by=F("scope_id"), order_by=[F("due_at"), F("id")])
    return list(jobs.order_by(turn, "due_at", "id").values_list("pk", flat=True)[:limit])


def job_take(*, job_id: UUID, now: datetime, listener: Listener | None = None) -> Work | None:
    """Take the lease of a due job; return None if another worker was faster."""
    taken = Job.objects.filter(_due(now), pk=job_id).update(
        state=JobState.RUNNING,
        started_at=now,
        attempt=F("attempt") + 1,
        stalled=F("stalled") + 1,
        announcements=0,
        announced_at=None,
        lease_until=now + timedelta(seconds=settings.JOB_LEASE_SECONDS),
    )
    return Work(Job.objects.get(pk=job_id), listener) if taken else None


def job_run(*, job_id: UUID, listener: Listener | None = None) -> bool:
    """Run a due job to its end and report progress to a listener; return whether this call got the lease."""
    work = job_take(job_id=job_id, now=timezone.now(), listener=listener)
    if work is not None:
        _run(work)
    return work is not None


def job_run_here(*, kind: str, payload: Mapping[str, Any], listener: Listener, scope_id: UUID | None = None) -> Job:
    """Add a job whose lease this process holds from the start, run it, and return it when it ends."""
    now = timezone.now()
    job = Job.objects.create(
        kind=kind,
        lane=kind_named(kind).lane,
        payload=dict(payload),
        scope_id=scope_id,
        state=JobState.RUNNING,
        attempt=1,
        stalled=1,
        due_at=now,
        created_at=now,
        lease_until=now + timedelta(seconds=settings.JOB_LEASE_SECONDS),
    )
    _run(Work(job, listener))
    job.refresh_from_db()
    return job


def _run(work: Work) -> None:
    with logged_as(work.job.request_id or f"job-{work.job.pk}"), acting_by(work.job.token):
        start = time.monotonic()
        _attempt(work)
        seconds = time.monotonic() - start
        JOBS.add(work.job.lane, work.job.state)
        JOB_SECONDS.observe(seconds, work.job.lane)
        if settings.LOG_REQUESTS:
            logger.info("job %s (%s) %s after %.1f s", work.job.pk, work.job.kind, work.job.state, seconds)


def _attempt(work: Work) -> None:
    job = work.job
    if job.stalled > MOST_STALLED:
        _finish(work, JobState.FAILED, error=job.error or "The worker ended every attempt before anything was done.")
        return
    try:
        with _heartbeat(work):
            result = kind_named(job.kind).run(work)
        if _finish(work, JobState.DONE, result={**job.result, **result}):
            _clean(job)
    except LeaseLost:
        logger.warning("job %s was stopped or taken over by another worker", job.pk)
    except WorkerStopping:
        _retry(work, "", pause=0, stalled=0)
    except RetryLater as error:
        _retry(work, str(error), pause=2 ** min(job.attempt, 6), stalled=0)
    except ValueError as error:  # what was asked for cannot be done: told to the person who asked, no fault of ours
        logger.warning("job %s (%s) was refused: %s", job.pk, job.kind, error)
        kept = {"problem": {"key": error.key, "data": error.data}} if isinstance(error, KeyedError) else {}
        _finish(work, JobState.FAILED, result={**job.result, **kept}, error=str(error) or repr(error))
    except Exception as error:
        if is_transient(error):
            logger.warning("job %s (%s) is tried again: %s", job.pk, job.kind, error)
            _retry(work, "The database could not be reached or was busy.", pause=2 ** min(job.stalled, 8))
            return
        logger.exception("job %s (%s) failed", job.pk, job.kind)
        _finish(work, JobState.FAILED, error=_sentence(work, error))


def _clean(job: Job) -> None:
    """Remove data that only the job needed; an error here doesn't make the job fail."""
    clean = kind_named(job.kind).clean
    if clean is None:
        return
    try:
        clean(job.payload)
    except Exception:
        logger.warning("what job %s needed could not be removed", job.pk, exc_info=True)


def _sentence(work: Work, error: Exception) -> str:
    """Return a message about an unexpected failure; the details are in the log."""
    kept = " What was done until then is kept, and trying again goes on from there." if work.job.done else ""
    return f"Something unexpected went wrong ({type(error).__name__}); the log has the details under job {work.job.pk}.{kept}"


def jobs_run_due(*, limit: int = 100, lanes: Collection[str] = ()) -> int:
    """Run due jobs of some lanes (of all by default) one after another; return the number of jobs."""
    return sum(job_run(job_id=job_id) for job_id in jobs_due(now=timezone.now(), limit=limit, lanes=lanes))


def job_retry(*, job_id: UUID, now: datetime) -> bool:
    """Queue a failed job again; refuse if another job with its key is unfinished."""
    try:
        with transaction.atomic():
            queued = Job.objects.filter(pk=job_id, state=JobState.FAILED).update(
                state=JobState.QUEUED, due_at=now, stalled=0, error="", finished_at=None
            )
    except IntegrityError:
        return False
    if queued:
        job_announce(job=Job.objects.get(pk=job_id))
    return bool(queued)


def job_stop(*, job_id: UUID, now: datetime) -> bool:
    """Stop an unfinished job; its worker notices at its next step. Return whether the job was unfinished."""
    unfinished = Job.objects.filter(pk=job_id, state__in=[JobState.QUEUED, JobState.RUNNING])
    return bool(
        unfinished.update(
            state=JobState.FAILED,
            finished_at=now,
            lease_until=None,
            error="Stopped. What was done until then is kept, and trying again goes on from there.",
        )
    )


def _finish(work: Work, state: JobState, *, result: dict[str, Any] | None = None, error: str = "") -> bool:
    """End a job, unless another worker has taken it over; return whether this attempt ended it."""
    changes: dict[str, Any] = {"state": state, "finished_at": timezone.now(), "lease_until": None, "error": error}
    if result is not None:
        changes["result"] = result
    own = Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING)
    work.job.state = state
    with transaction.atomic():
        ended = bool(own.update(**changes))
        if ended and state == JobState.FAILED and work.job.scope_id is not None:
            event_add(
                kind="job.failed",
                scope_id=work.job.scope_id,
                now=changes["finished_at"],
                key=f"job.failed:{work.job.pk}:{work.attempt}",
                job=str(work.job.pk),
                job_kind=work.job.kind,
                error=error[:500],
            )
    return ended


def _retry(work: Work, reason: str, *, pause: int, **changes: Any) -> None:
    """Queue a job again after a delay in seconds."""
    due_at = timezone.now() + timedelta(seconds=min(MOST_BACKOFF_SECONDS, pause))
    work.job.state = JobState.QUEUED
    Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING).update(
        state=JobState.QUEUED, due_at=due_at, lease_until=None, error=reason, **changes
    )


@contextmanager
def _heartbeat(work: Work) -> Iterator[None]:
    """Renew the lease while the handler is busy between steps."""
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(settings.JOB_BEAT_SECONDS):
            try:
                Job.objects.filter(pk=work.job.pk, attempt=work.attempt, state=JobState.RUNNING).update(
                    lease_until=timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)
                )
            except DatabaseError:  # the next beat may succeed; if none does, another worker takes over
                logger.warning("the lease of job %s could not be renewed", work.job.pk, exc_info=True)
            close_old_connections()
        connection.close()

    thread = threading.Thread(target=beat, name=f"heartbeat-{work.job.pk}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def jobs_delete(*, kind: str, scope_id: UUID, payload: dict[str, str] | None = None) -> None:
    """Delete a campaign's jobs of a kind, with their results; ``payload`` selects jobs with these entries."""
    entries = {f"payload__{name}": value for name, value in (payload or {}).items()}
    Job.objects.filter(kind=kind, scope_id=scope_id, **entries).delete()


def jobs_forget(now: datetime) -> None:
    """Delete old jobs: upkeep after an hour, failed imports and their uploads later.

    Failed releases are kept: their members are frozen, and a retry continues where the job stopped.
    """
    sweepable = Job.objects.filter(lane__in=[Lane.UPKEEP, Lane.MARKETPLACE], requested_by=None)
    old = now - timedelta(hours=1)
    sweepable.filter(state__in=[JobState.DONE, JobState.FAILED], finished_at__lt=old).delete()
    cleaned = [kind.name for kind in kinds().values() if kind.clean is not None]
    failed = Job.objects.filter(state=JobState.FAILED, finished_at__lt=now - timedelta(days=FAILED_DAYS))
    for job in failed.filter(kind__in=cleaned).order_by("finished_at", "pk")[:20]:
        _clean(job)
        job.delete()
