"""Ending overdue assignments and expired reservations."""

from datetime import datetime
from uuid import UUID

from annotation.models import Annotation, AnnotationState, Assignment, AssignmentState, Standing
from annotation.slots.services.counting import slots_release, submission_come_back
from annotation.slots.services.participation_locks import people_lock
from database.transactions import durable, require_transaction

SWEEP_SIZE = 500


def assignments_expire(now: datetime) -> int:
    """End overdue assignments and reopen their slots; return how many. Drafts are kept for their authors."""
    due = list(
        Assignment.objects.filter(deadline_at__lt=now, state__in=[AssignmentState.LIVE, AssignmentState.RESERVED])
        .order_by("deadline_at", "pk")
        .values_list("pk", "slot_id", "state")[:SWEEP_SIZE]
    )
    return sum(_expire(pk, slot_id, state, now) for pk, slot_id, state in due)


def assignments_end(*, campaign_id: UUID, surrogate_id: UUID, now: datetime) -> int:
    """Let the sweep end what a person holds, because they left; return how many assignments that are."""
    require_transaction()
    held = Assignment.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id, deadline_at__gt=now)
    return held.filter(state__in=[AssignmentState.LIVE, AssignmentState.RESERVED]).update(deadline_at=now)


@durable
def _expire(assignment_id: UUID, slot_id: int, state: str, now: datetime) -> bool:
    opened = Assignment.objects.filter(pk=assignment_id, state=AssignmentState.LIVE).first()
    before = _before_opening(opened) if opened is not None else None
    if before is not None:
        places = people_lock(campaign_id=before.campaign_id, surrogate_ids=[before.surrogate_id])
        before = before if all(place.standing != Standing.SUSPENDED for place in places) else None
    lapsed = state == AssignmentState.RESERVED
    after = AssignmentState.RELEASED if lapsed else AssignmentState.EXPIRED
    # The deadline is asked again: it may have been extended since.
    ended = Assignment.objects.filter(pk=assignment_id, state=state, deadline_at__lt=now).update(
        state=after, ended_at=now
    )
    if ended and not (before is not None and submission_come_back(annotation=before, now=now)):
        slots_release(slot_ids=[slot_id])
    return bool(ended)


def _before_opening(live: Assignment) -> Annotation | None:
    """Return the first submission of an answer that its author has reopened and holds now."""
    own = Annotation.objects.filter(item=live.item_id, surrogate_id=live.surrogate_id, slot=live.slot_id)
    return own.filter(state=AnnotationState.UNDONE, assignment__state=AssignmentState.UNDONE).order_by("-pk").first()
