"""Taking a submission back: the annotation stays, not counted, and its author holds the item again."""

from datetime import datetime, timedelta
from uuid import UUID

from accounts.audit import record
from accounts.selectors import consent_is_current
from annotation.models import INTERNAL, Annotation, Assignment, AssignmentState, Campaign, CampaignState, Standing
from annotation.questions.selectors import has_read_answer
from annotation.slots.services.claims import Claim, claim_next
from annotation.slots.services.counting import slots_release, submission_take_back
from annotation.slots.services.participation_locks import participation_lock
from annotation.tasktypes.registry import TASK_TYPES, answer_summary
from annotation.work.selectors import UNDO_SECONDS
from annotation.work.services.assignments import WorkError
from database.transactions import durable
from documents.selectors import tokenization_of


class NothingToUndo(WorkError):
    """The submission doesn't exist, is too old, doesn't count any more, or its author has read a reply about it."""


class OpenedAgain(WorkError):
    """Another answer was reopened, and isn't resubmitted yet."""


@durable
def submission_undo(
    *, campaign: Campaign, surrogate_id: UUID, now: datetime, annotation_id: int | None = None
) -> Claim:
    """Reopen an annotator's last answer or another one; the item in hand goes back to the queue.

    Raises
    ------
    NothingToUndo, OpenedAgain
    """
    place = participation_lock(campaign_id=campaign.pk, surrogate_id=surrogate_id)
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, via=INTERNAL)
    if annotation_id is not None:
        own = own.filter(pk=annotation_id)
    last = own.select_related("assignment__item__tokenization").order_by("-pk").first()
    if place.standing in (Standing.PAUSED, Standing.SUSPENDED):
        raise NothingToUndo
    if campaign.state == CampaignState.CLOSED:  # nobody would be handed the item again
        raise NothingToUndo
    if not consent_is_current(scope_id=campaign.pk, surrogate_id=surrogate_id):
        raise NothingToUndo
    if last is None or last.assignment is None or last.submitted_at < now - timedelta(seconds=UNDO_SECONDS):
        raise NothingToUndo
    if has_read_answer(last.item_id, surrogate_id):  # it would be answered with what a manager said of it
        raise NothingToUndo
    in_hand = _give_back(campaign, surrogate_id, now)
    if not submission_take_back(annotation=last, now=now):
        raise NothingToUndo
    _hold_again(last, campaign, now)
    slots_release(slot_ids=in_hand)
    # Who did it stands in the assignment alone, so that a withdrawal can unlink it.
    record(action="submission_undo", subject=last, now=now, actor_id=None, scope_id=campaign.pk)
    return claim_next(campaign=campaign, surrogate_id=surrogate_id, now=now)


def _give_back(campaign: Campaign, surrogate_id: UUID, now: datetime) -> list[int]:
    """End the current assignment and return its slot, to be released once the earlier slot is held again."""
    own = Assignment.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    live = own.filter(state=AssignmentState.LIVE)
    rows = list(live.select_for_update(no_key=True))
    # If an answer that was opened again were given back, another annotator could take its place, and it would be lost.
    if own.filter(state=AssignmentState.UNDONE, item__in=[row.item_id for row in rows]).exists():
        raise OpenedAgain
    slot_ids = [row.slot_id for row in rows]
    live.update(state=AssignmentState.RELEASED, ended_at=now)
    return slot_ids


def _hold_again(taken: Annotation, campaign: Campaign, now: datetime) -> None:
    """Assign an item to its annotator again; the draft contains a summary of the earlier answer for them to read."""
    before = taken.assignment
    assert before is not None
    said = answer_summary(campaign.task_type, taken.answer, tokenization_of(before.item.tokenization))
    draft = TASK_TYPES[campaign.task_type].step_back(before.draft)
    Assignment.objects.filter(pk=before.pk).update(state=AssignmentState.UNDONE)
    Assignment.objects.create(
        campaign=campaign,
        item_id=before.item_id,
        slot_id=before.slot_id,
        surrogate_id=before.surrogate_id,
        guideline_id=before.guideline_id,
        state=AssignmentState.LIVE,
        claimed_at=now,
        deadline_at=now + timedelta(seconds=campaign.deadline_seconds),
        draft={**draft, "again": [text for _name, text in said.lines]},
        draft_version=before.draft_version + 1,
    )
