"""A worker's qualification values, based on actual work, and the requirements that the worker doesn't meet."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from database.statements import Statement
from marketplace.models import Assignment, HitType, Qualification, Worker, WorkerBlock
from marketplace.protocol import requirements

State = Assignment.State
_DECIDED = Statement(
    lambda worker: (
        Assignment.objects.filter(worker_id=worker, state__in=(State.APPROVED, State.REJECTED))
        .order_by()
        .values_list("state")
        .annotate(Count("pk"))
    ),
    int,
)
# Those of deleted types too: HITs that are open still ask for them.
_HELD = Statement(
    lambda worker: Qualification.objects.filter(worker_id=worker, is_granted=True).values_list(
        "qualification_type__qualification_type_id", "value"
    ),
    int,
)


_BLOCK = Statement(
    lambda requester, worker: WorkerBlock.objects.filter(requester_id=requester, worker_id=worker).values_list("pk")[
        :1
    ],
    int,
    int,
)


@dataclass(frozen=True)
class Record:
    """The numbers of a worker's approved and rejected assignments."""

    approved: int
    rejected: int

    @property
    def percent(self) -> int:
        """Return the approval rate in percent; 100 before the first decision (choice, as on MTurk)."""
        decided = self.approved + self.rejected
        return round(100 * self.approved / decided) if decided else 100


def worker_record(worker: Worker) -> Record:
    """Return a worker's record: the imported numbers plus every decision in this marketplace."""
    counts: dict[str, int] = dict(_DECIDED.rows(worker.pk))
    return Record(
        worker.prior_approved + counts.get(State.APPROVED, 0), worker.prior_rejected + counts.get(State.REJECTED, 0)
    )


def worker_values(worker: Worker) -> dict[str, Any]:
    """Return a worker's qualification values by qualification type id."""
    record = worker_record(worker)
    values: dict[str, Any] = {
        requirements.PERCENT_APPROVED: record.percent,
        requirements.NUMBER_APPROVED: record.approved,
    }
    if worker.country:
        values[requirements.LOCALE] = (worker.country, worker.subdivision)
    if worker.is_adult_content_ok:
        values[requirements.ADULT] = 1
    return values | dict(_HELD.rows(worker.pk))


def is_blocked(worker: Worker, hit_type: HitType) -> bool:
    """Return whether the requester of a HIT type has blocked a worker."""
    return bool(_BLOCK.rows(hit_type.requester_id, worker.pk))


def unmet_for(worker: Worker, needs: Iterable[Mapping[str, Any]], action: str) -> list[Mapping[str, Any]]:
    """Return the requirements that prevent a worker from an action; query the database only if there are any."""
    listed = list(needs)
    return requirements.unmet(listed, worker_values(worker), action) if listed else []
