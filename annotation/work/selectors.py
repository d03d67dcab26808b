"""An annotator's most recent submissions, and whether there is work for them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import (
    INTERNAL,
    Annotation,
    AnnotationState,
    AssignmentState,
    Campaign,
    CampaignState,
    Slot,
    SlotState,
)
from annotation.questions.selectors import author_has_read_answer
from annotation.tasktypes.base import Summary
from annotation.tasktypes.registry import answer_summary
from documents.selectors import tokenization_of

MOST = 20
UNDO_SECONDS = 15 * 60  # for so long an answer can be taken back


@dataclass(frozen=True, slots=True)
class RecentAnswer:
    """An answer for its author to read. It doesn't say whether it counts, which would reveal known answers."""

    annotation: Annotation
    summary: Summary
    is_taken_back: bool
    until: datetime | None  # when it can be opened again no more; None: not now

    @property
    def text(self) -> str:
        """The judged text of the item besides the question, if there is one."""
        return str(self.annotation.item.content.get("answer_text", ""))


def is_work_open(campaign: Campaign, surrogate_id: UUID) -> bool:
    """Return whether an annotator holds an item, or any annotation is open."""
    held = [AssignmentState.LIVE, AssignmentState.RESERVED]
    return (
        campaign.assignments.filter(surrogate_id=surrogate_id, state__in=held).exists()
        or Slot.objects.filter(campaign=campaign, state=SlotState.OPEN).exists()
    )


def may_take_back(campaign: Campaign, surrogate_id: UUID, now: datetime) -> bool:
    """Return whether an annotator's last answer can still be taken back, judging by its state and time."""
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, via=INTERNAL)
    last = own.order_by("-pk").values_list("state", "submitted_at").first()
    return last is not None and campaign.state != CampaignState.CLOSED and _until(*last, now) is not None


def _until(state: str, submitted_at: datetime, now: datetime) -> datetime | None:
    """Return the time until which an answer can be taken back; None if it can't."""
    until = submitted_at + timedelta(seconds=UNDO_SECONDS)
    return None if state in (AnnotationState.UNDONE, AnnotationState.LATE) or until < now else until


def recent_answers(*, campaign: Campaign, surrogate_id: UUID, now: datetime, may_open: bool) -> list[RecentAnswer]:
    """Return an annotator's last answers, newest first; none can be reopened where they may not work."""
    own = Annotation.objects.filter(unsealed(), campaign=campaign, surrogate_id=surrogate_id, via=INTERNAL)
    rows = own.annotate(is_settled=author_has_read_answer()).select_related("item__tokenization").order_by("-pk")[:MOST]
    is_open = may_open and campaign.state != CampaignState.CLOSED
    return [_recent(campaign, row, now, is_open=is_open and not row.is_settled) for row in rows]


def _recent(campaign: Campaign, row: Annotation, now: datetime, *, is_open: bool) -> RecentAnswer:
    summary = answer_summary(campaign.task_type, row.answer, tokenization_of(row.item.tokenization))
    until = _until(row.state, row.submitted_at, now) if is_open else None
    return RecentAnswer(row, summary, row.state == AnnotationState.UNDONE, until)
