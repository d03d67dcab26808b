"""Questions that annotators found upsetting or offensive, which a manager can list in releases."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.audit import record
from annotation.models import Assignment
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable
from quality.models import Flag


def question_flag_offered(*, assignment: Assignment, now: datetime, **_: Any) -> None:
    """Flag a question that an annotator skipped as offensive, without recording the annotator."""
    question_id = TASK_TYPES[assignment.campaign.task_type].question_key(assignment.item.content)
    if assignment.skip_reason == "offensive" and question_id:
        Flag.objects.get_or_create(
            campaign_id=assignment.campaign_id, question_id=question_id, defaults={"created_at": now}
        )


@durable
def flag_decide(*, flag: Flag, listed: bool, actor_id: UUID, now: datetime) -> None:
    """Add a question to the list in releases, or remove it."""
    Flag.objects.filter(pk=flag.pk).update(is_listed=listed, decided_by_id=actor_id, decided_at=now)
    record(action="flag_decide", subject=flag, now=now, actor_id=actor_id, scope_id=flag.campaign_id, listed=listed)
