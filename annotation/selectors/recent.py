"""What an annotator submitted last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from annotation.models import INTERNAL, Annotation, AnnotationState, Campaign, CampaignState
from annotation.tasktypes.base import Summary
from annotation.tasktypes.registry import answer_summary
from documents.selectors import tokenization_of

MOST = 20
UNDO_SECONDS = 15 * 60  # for so long an answer can be taken back


@dataclass(frozen=True, slots=True)
class RecentAnswer:
    """An answer as its author sees it: whether it counts is not theirs to know, it would tell known answers."""

    annotation: Annotation
    summary: Summary
    is_taken_back: bool
    until: datetime | None  # when it can be opened again no more; None: not now

    @property
    def text(self) -> str:
        """What was judged besides the question, where there is something."""
        return str(self.annotation.item.content.get("answer_text", ""))


def recent_answers(*, campaign: Campaign, surrogate_id: UUID, now: datetime) -> list[RecentAnswer]:
    """Return the last answers of an annotator, the newest first."""
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, via=INTERNAL)
    rows = own.select_related("item__tokenization").order_by("-pk")[:MOST]
    return [_recent(campaign, row, now) for row in rows]


def _recent(campaign: Campaign, row: Annotation, now: datetime) -> RecentAnswer:
    summary = answer_summary(campaign.task_type, row.answer, tokenization_of(row.item.tokenization))
    until = row.submitted_at + timedelta(seconds=UNDO_SECONDS)
    is_over = row.state in (AnnotationState.UNDONE, AnnotationState.LATE)
    is_closed = is_over or until < now or campaign.state == CampaignState.CLOSED
    return RecentAnswer(row, summary, row.state == AnnotationState.UNDONE, None if is_closed else until)
