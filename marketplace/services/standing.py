"""What a worker has and may do: qualification values from real history, and what keeps them from a HIT."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from marketplace.models import Assignment, HitType, Qualification, Worker, WorkerBlock
from marketplace.protocol import requirements


@dataclass(frozen=True)
class Record:
    """How many of a worker's assignments were approved and rejected."""

    approved: int
    rejected: int

    @property
    def percent(self) -> int:
        """Return the approval rate in percent; 100 before the first decision (choice, as on MTurk)."""
        decided = self.approved + self.rejected
        return round(100 * self.approved / decided) if decided else 100


def worker_record(worker: Worker) -> Record:
    """Return a worker's record: what they brought along and every decision here."""
    counts = worker.assignments.aggregate(
        approved=Count("pk", filter=Q(state=Assignment.State.APPROVED)),
        rejected=Count("pk", filter=Q(state=Assignment.State.REJECTED)),
    )
    return Record(worker.prior_approved + counts["approved"], worker.prior_rejected + counts["rejected"])


def worker_values(worker: Worker) -> dict[str, Any]:
    """Return what a worker holds, by qualification type id."""
    record = worker_record(worker)
    values: dict[str, Any] = {
        requirements.PERCENT_APPROVED: record.percent,
        requirements.NUMBER_APPROVED: record.approved,
    }
    if worker.country:
        values[requirements.LOCALE] = (worker.country, worker.subdivision)
    if worker.is_adult_content_ok:
        values[requirements.ADULT] = 1
    # Those of deleted types too: HITs that are open still ask for them.
    held = Qualification.objects.filter(worker=worker, is_granted=True).select_related("qualification_type")
    return values | {one.qualification_type.qualification_type_id: one.value for one in held}


def is_blocked(worker: Worker, hit_type: HitType) -> bool:
    """Return whether the requester of a HIT type has blocked a worker."""
    return WorkerBlock.objects.filter(requester_id=hit_type.requester_id, worker=worker).exists()


def unmet_for(worker: Worker, needs: Iterable[Mapping[str, Any]], action: str) -> list[Mapping[str, Any]]:
    """Return the requirements that keep a worker from an action; ask the database only if there are any."""
    listed = list(needs)
    return requirements.unmet(listed, worker_values(worker), action) if listed else []
