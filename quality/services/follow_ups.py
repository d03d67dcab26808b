"""What follows from an answer: a review, an answer given blind; and what a review does to the answer it is about."""

from collections.abc import Collection, Iterable
from datetime import datetime

from accounts.transactions import require_transaction
from annotation.models import Annotation, AnnotationState, Campaign, CountedChange, ItemState, Purpose
from annotation.services.counting import annotation_count_again, annotations_exclude
from annotation.services.follow_ups import follow_ups_add, follow_ups_withdraw
from annotation.services.shown import options_of
from annotation.tasktypes.base import FollowedUp
from annotation.tasktypes.registry import TASK_TYPES

REFUSED = "refused in review"  # how the reason begins for which an answer was excluded by another
_FOLLOWED = (Purpose.WORK, Purpose.STUDY, Purpose.REVIEW)  # batches of whose answers others are asked


def followed_by(annotations: Iterable[Annotation]) -> list[Annotation]:
    """Return the answers that others are about, whose authors and rows are locked before those of the others."""
    keys = {row.item.follows_id for row in annotations if row.item.follows_id is not None}
    return list(Annotation.objects.filter(pk__in=keys).order_by("pk"))


def follow_ups_settle(*, campaign: Campaign, annotations: Collection[Annotation], now: datetime) -> int | None:
    """Ask what follows from locked annotations that count, take back what followed from others, and let refusals act.

    The people, annotations and items of `followed_by` are locked as well. Returns the place in the queue of the first
    new slot, for a `queue_rewind` at the end of the transaction.
    """
    require_transaction()
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, FollowedUp):
        return None
    options, keys = options_of(campaign), []
    for row in annotations:
        if row.item.batch.purpose not in _FOLLOWED:
            continue
        counts = row.state == AnnotationState.COUNTED and row.item.state == ItemState.ACTIVE
        if row.item.follows_id is not None:
            why = task_type.refusal(row.item.content, row.answer) if counts else None
            _refusal_settle(row, row.item.follows_id, why, now)
        if counts:
            wanted = task_type.follow_ups(row.item.content, row.answer, options)
            keys.append(follow_ups_add(annotation=row, wanted=wanted, now=now))
        elif not _is_refused(row):  # else the review stands, and can be taken back
            follow_ups_withdraw(annotation=row, because="what it asks about does not count any more", now=now)
    return min((key for key in keys if key is not None), default=None)


def _refusal_settle(row: Annotation, about_id: int, why: str | None, now: datetime) -> None:
    """Exclude the answer that a counted one refuses; count it again where the refusal was taken back."""
    about = Annotation.objects.select_related("item").get(pk=about_id)
    if why is not None:
        # By whom, the review says: here a name would stay when its author withdraws.
        annotations_exclude(annotations=[about], because=f"{REFUSED}: {why}", actor_id=None, now=now)
    elif row.state != AnnotationState.COUNTED and _is_refused(about):
        annotation_count_again(annotation=about, because="the review was taken back", actor_id=None, now=now)


def _is_refused(annotation: Annotation) -> bool:
    """Return whether an annotation does not count because of a review."""
    last = CountedChange.objects.filter(annotation=annotation).order_by("-pk").first()
    return annotation.state == AnnotationState.EXCLUDED and last is not None and last.because.startswith(REFUSED)
