"""Sealing a split: from then on, its labels are only used to compute scores."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from accounts.audit import record
from annotation.campaigns.selectors.sealing import LEAST_ITEMS
from annotation.locks import campaign_lock
from annotation.models import (
    ORDINARY,
    Annotation,
    AnnotationState,
    ItemState,
    Purpose,
    Slot,
    SlotState,
    Snapshot,
    Split,
)
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from quality.certificates.models import UNFINISHED
from quality.models import (
    PENDING,
    AuditItem,
    BehaviourSnapshot,
    Case,
    CertificateLabel,
    Inspection,
    QualitySnapshot,
    StudySnapshot,
    TargetSnapshot,
    Verdict,
)
from web.errors import KeyedError

_UNFINISHED = (SlotState.OPEN, SlotState.ASIDE, SlotState.HELD)
_NUMBERS = (Snapshot, QualitySnapshot, StudySnapshot, TargetSnapshot, BehaviourSnapshot)


class SealError(KeyedError):
    """A split can't be sealed or unsealed; the message gives the reason."""


def split_seal(*, split: Split, actor_id: UUID | None, now: datetime) -> None:
    """Seal a finished split: pages, numbers, files and releases no longer contain its labels.

    Numbers computed with it are deleted and stay hidden until they are recomputed without it.

    Raises
    ------
    SealError
        It is already sealed, it is too small, or annotators or experts are still working on it.
    """
    with transaction.atomic():
        campaign_lock(split.campaign)
        # Every change of an annotation's state takes these locks first, so this waits for unfinished changes.
        answers = Annotation.objects.filter(item__split=split).order_by("pk")
        list(answers.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
        split.refresh_from_db()
        if split.sealed_at is not None:
            raise SealError("split_sealed_already", split=str(split))
        _refuse_unless_done(split)
        split.sealed_at = now
        split.save(update_fields=["sealed_at"])
        for numbers in _NUMBERS:
            numbers.objects.filter(campaign=split.campaign_id).delete()
        record(
            action="split_seal", subject=split, now=now, actor_id=actor_id, scope_id=split.campaign_id, name=split.name
        )


def split_unseal(*, split: Split, reason: str, actor_id: UUID | None, now: datetime) -> None:
    """Show the labels of a sealed split again, and record the reason.

    Raises
    ------
    SealError
        It isn't sealed, or the reason is missing.
    """
    if not reason.strip():
        raise SealError("unsealing_reason")
    with transaction.atomic():
        campaign_lock(split.campaign)
        if not Split.objects.filter(pk=split.pk).exclude(sealed_at=None).update(sealed_at=None):
            raise SealError("split_not_sealed", split=str(split))
        record(
            action="split_unseal",
            subject=split,
            now=now,
            actor_id=actor_id,
            scope_id=split.campaign_id,
            name=split.name,
            reason=reason.strip(),
        )


def _refuse_unless_done(split: Split) -> None:
    active = split.items.filter(state=ItemState.ACTIVE)
    items = active.filter(batch__purpose__in=ORDINARY)
    asked = active.filter(batch__purpose__in=[*ORDINARY, Purpose.REVIEW])
    if items.count() < LEAST_ITEMS:
        raise SealError("split_too_small", split=str(split), least=LEAST_ITEMS)
    slots = Slot.objects.filter(item__in=asked, state__in=_UNFINISHED)
    answers = Annotation.objects.filter(item__in=asked)
    unseen = answers.filter(Q(state=AnnotationState.PROVISIONAL) | Q(state=AnnotationState.COUNTED, is_examined=False))
    drawn = AuditItem.objects.filter(verdict__item__in=items, case=None, is_left_out=False, audit__called_off_at=None)
    certified = CertificateLabel.objects.filter(verdict__item__split=split, certificate__state__in=UNFINISHED)
    decided = Verdict.objects.filter(item=OuterRef("pk"), superseded_at=None)
    is_voted = isinstance(TASK_TYPES[split.campaign.task_type], Voted)
    for waiting, what in (
        (items.filter(slots=None), "items"),
        (slots, "slots"),
        (unseen, "unexamined"),
        (Case.objects.filter(item__in=items, state__in=PENDING), "cases"),
        (drawn, "audit"),
        (certified, "certificate"),
        (items.filter(~Exists(decided)) if is_voted else items.none(), "labels"),
        (Inspection.objects.filter(annotation__item__in=items, verdict=""), "inspections"),
    ):
        if waiting.exists():
            raise SealError(f"seal_{what}", split=str(split))
