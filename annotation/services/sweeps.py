"""Deadlines that pass and reservations that lapse."""

from datetime import datetime
from uuid import UUID

from accounts.transactions import durable
from annotation.models import Assignment, AssignmentState
from annotation.services.counting import slots_release

SWEEP_SIZE = 500


def assignments_expire(now: datetime) -> int:
    """End what is overdue, reopen its slots, and return how many; drafts stay for their authors."""
    due = list(
        Assignment.objects.filter(deadline_at__lt=now, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
        .order_by("deadline_at", "pk")
        .values_list("pk", "slot_id", "state")[:SWEEP_SIZE]
    )
    return sum(_expire(pk, slot_id, state, now) for pk, slot_id, state in due)


@durable
def _expire(assignment_id: UUID, slot_id: int, state: str, now: datetime) -> bool:
    lapsed = state == AssignmentState.RESERVED
    after = AssignmentState.RELEASED if lapsed else AssignmentState.EXPIRED
    # The deadline is asked again: it may have been extended since.
    ended = Assignment.objects.filter(pk=assignment_id, state=state, deadline_at__lt=now).update(
        state=after, ended_at=now
    )
    if ended:
        slots_release(slot_ids=[slot_id])
    return bool(ended)
