"""Taking back what was just submitted: the annotation stays, not counted, and its author holds the item again."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F

from accounts.audit import record
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Campaign,
    ItemState,
    Participation,
    Slot,
    SlotState,
)
from annotation.services.claims import Claim, claim_next, participation_lock
from annotation.services.work import WorkError, slot_reopen
from annotation.tasktypes.registry import TASK_TYPES

UNDO_SECONDS = 120


class NothingToUndo(WorkError):
    """The last submission is too long ago, does not count any more, or there is none."""


def submission_undo(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> Claim:
    """Give somebody their last item back to answer again; the one in hand goes back to the others.

    Raises
    ------
    NothingToUndo
    """
    with transaction.atomic():
        participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
        own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, ticket=None)
        last = own.select_related("assignment", "item").order_by("-pk").first()
        if last is None or last.assignment is None or last.submitted_at < now - timedelta(seconds=UNDO_SECONDS):
            raise NothingToUndo
        undone = Annotation.objects.filter(pk=last.pk, counted=True, item__state=ItemState.ACTIVE).update(
            counted=False, not_counted_because="undone", is_examined=False
        )
        if not undone or not _hold_again(last, campaign, surrogate_id, now):
            raise NothingToUndo
        Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, submitted__gte=1).update(
            submitted=F("submitted") - 1
        )
        # Who did it stands in the assignment alone, so that a withdrawal can unlink it.
        record(action="submission_undo", subject=last, now=now, actor_id=None, scope_id=campaign.pk)
        return claim_next(campaign=campaign, surrogate_id=surrogate_id, now=now)


def _hold_again(last: Annotation, campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    in_hand = Assignment.objects.filter(
        campaign=campaign, surrogate_id=surrogate_id, state=AssignmentState.LIVE
    ).first()
    if in_hand is not None:
        Assignment.objects.filter(pk=in_hand.pk).update(state=AssignmentState.RELEASED, ended_at=now)
        slot_reopen(slot_id=in_hand.slot_id)
    before = last.assignment
    assert before is not None
    Assignment.objects.filter(pk=before.pk).update(state=AssignmentState.UNDONE)
    held = Slot.objects.filter(pk=before.slot_id, state=SlotState.FILLED).update(state=SlotState.HELD)
    if held:
        Assignment.objects.create(
            campaign=campaign, item_id=last.item_id, slot_id=before.slot_id, surrogate_id=surrogate_id,
            guideline_id=before.guideline_id, state=AssignmentState.LIVE, claimed_at=now,
            deadline_at=now + timedelta(seconds=campaign.deadline_seconds),
            draft=TASK_TYPES[campaign.task_type].step_back(before.draft), draft_version=before.draft_version + 1,
        )  # fmt: skip
    return bool(held)
