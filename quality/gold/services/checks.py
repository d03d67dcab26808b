"""Compare answers with gold keys."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from annotation.models import Annotation, AnnotationState, Campaign, Injection
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import require_transaction
from quality.models import GoldCheck, GoldKey, GoldKeyState


def gold_check(*, annotation: Annotation, now: datetime) -> GoldCheck | None:
    """Compare a person's first answer to a gold question with its key; return None if no check applies.

    No check applies without an active key, or if the answer is from the pilot that the key was made from. A withdrawn
    answer still counts as the first. Otherwise annotators could watch their own standing while they try different
    answers, and learn which item is gold and what it accepts.
    """
    require_transaction()
    key = GoldKey.objects.filter(item_id=annotation.item_id, state=GoldKeyState.ACTIVE).first()
    if key is None or annotation.state not in (AnnotationState.COUNTED, AnnotationState.UNDONE):
        return None
    if not Injection.objects.filter(slot__assignments=annotation.assignment_id).exists():
        return None
    own = Annotation.objects.filter(
        item_id=annotation.item_id, surrogate_id=annotation.surrogate_id, pk__lt=annotation.pk
    )
    earlier = own.filter(state=AnnotationState.UNDONE)
    if earlier.filter(Q(gold_check__isnull=False) | Q(is_examined=False)).exists():
        return None
    missed = TASK_TYPES[annotation.campaign.task_type].missed(key.accepted, annotation.answer)
    check, _ = GoldCheck.objects.get_or_create(
        annotation=annotation,
        defaults={
            "key": key,
            "campaign_id": annotation.campaign_id,
            "surrogate_id": annotation.surrogate_id,
            "is_hit": not missed,
            "missed_at": missed,
            "at": now,
        },
    )
    return check


def gold_checks_unlink(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move an annotator's checks to the new surrogate of their work."""
    GoldCheck.objects.filter(campaign=campaign, surrogate_id=before).update(surrogate_id=after)
