"""What time does: deadlines pass, reservations lapse."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from annotation.models import Assignment, AssignmentState
from annotation.services.work import slot_reopen
from jobs.ticks import on_tick

SWEEP_SIZE = 500


@on_tick
def assignments_expire(now: datetime) -> int:
    """End what is overdue, reopen its slots, and return how many; drafts stay for their authors."""
    due = list(
        Assignment.objects.filter(deadline_at__lt=now, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
        .order_by("deadline_at", "pk")
        .values_list("pk", "slot_id", "state")[:SWEEP_SIZE]
    )
    return sum(_expire(pk, slot_id, state, now) for pk, slot_id, state in due)


def _expire(assignment_id: UUID, slot_id: int, state: str, now: datetime) -> bool:
    lapsed = state == AssignmentState.RESERVED
    after = AssignmentState.RELEASED if lapsed else AssignmentState.EXPIRED
    with transaction.atomic():
        # The deadline is asked again: it may have been extended since.
        ended = Assignment.objects.filter(pk=assignment_id, state=state, deadline_at__lt=now).update(
            state=after, ended_at=now
        )
        if ended:
            slot_reopen(slot_id=slot_id)
    return bool(ended)
