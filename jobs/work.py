"""The state of a running job: its row, its attempt, and the lease check that guards its effects."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from database.statements import Update
from jobs.models import Job, JobState

P = TypeVar("P")  # the TypedDict of a payload


class LeaseLost(Exception):
    """Another worker has taken over the job, or it was stopped; this worker must not cause any further effects."""


class WorkerStopping(Exception):
    """The worker was told to stop; the job is queued again and continues after its last step."""


# Set when the process was told to stop; every running job ends at its next step.
STOPPING = threading.Event()


class RetryLater(Exception):
    """Something outside failed temporarily; the job should be retried."""


def _running(pk: Any, attempt: Any) -> QuerySet[Job]:
    return Job.objects.filter(pk=pk, attempt=attempt, state=JobState.RUNNING)


_HOLD = Update(
    lambda pk, attempt, until: (_running(pk, attempt), {"lease_until": until}),
    UUID,
    int,
    datetime,
)


class Work:
    """One attempt at a job.

    Put effects inside `step`, which commits them and the progress in one transaction, and raises if the
    attempt is no longer the current one. A worker killed between steps loses nothing: the next attempt
    reads from ``job.result`` how far this one came.
    """

    def __init__(self, job: Job, listener: Callable[[Job], None] | None = None) -> None:
        self.job = job
        self._listener = listener
        self.attempt = job.attempt

    def payload_as(self, kind: type[P]) -> P:
        """Return the job's payload as the `TypedDict` of its kind."""
        return cast(P, self.job.payload)

    @contextmanager
    def step(
        self, *, done: int | None = None, total: int | None = None, message: str | None = None, **result: Any
    ) -> Iterator[None]:
        """Run effects, progress and checkpoint as one transaction, if this attempt still holds the lease."""
        with transaction.atomic():
            self._hold(done=done, total=total, message=message, result=result)
            yield

    @contextmanager
    def step_beside(self) -> Iterator[None]:
        """Run effects in a transaction parallel to others of this attempt, if the lease is still held at its end.

        A `step` locks the job's row from beginning to end, so steps run one after another. Here the row is locked only
        for the commit. Code inside must not lock the rows of several people or items.
        """
        if STOPPING.is_set():
            raise WorkerStopping
        with transaction.atomic():
            yield
            self._hold(done=None, total=None, message=None, result={})

    def checkpoint(self, **result: Any) -> None:
        """Save state for the next attempt to continue from. Call it inside a `step`, with the effects it describes."""
        self._hold(done=None, total=None, message=None, result=result)

    def progress(self, done: int, total: int | None = None, message: str | None = None) -> None:
        """Save the progress of the work and renew the lease."""
        with transaction.atomic():
            self._hold(done=done, total=total, message=message, result={})

    def _hold(self, *, done: int | None, total: int | None, message: str | None, result: dict[str, Any]) -> None:
        if STOPPING.is_set():
            raise WorkerStopping
        changes: dict[str, Any] = {"lease_until": timezone.now() + timedelta(seconds=settings.JOB_LEASE_SECONDS)}
        if result or (done is not None and done != self.job.done):
            changes["stalled"] = self.job.stalled = 0
        if done is not None:
            changes["done"] = self.job.done = done
        if total is not None:
            changes["total"] = self.job.total = total
        if message is not None:
            changes["message"] = self.job.message = message[:300]
        if result:
            self.job.result = {**self.job.result, **result}
            changes["result"] = self.job.result
        if len(changes) == 1:
            held = _HOLD.run(self.job.pk, self.attempt, changes["lease_until"])
        else:
            held = _running(self.job.pk, self.attempt).update(**changes)
        if not held:
            raise LeaseLost
        if self._listener:
            self._listener(self.job)
