"""What follows from an answer: a review, an answer given blind; and what a review does to the answer it is about."""

from collections.abc import Collection, Iterable
from datetime import datetime

from accounts.transactions import require_transaction
from annotation.models import Annotation, AnnotationState, Assignment, Campaign, CountedChange, ItemState, Purpose
from annotation.services.bars import items_met
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
        if row.item.follows_id is not None:
            about = Annotation.objects.select_related("item").get(pk=row.item.follows_id)
            _met_exclude(row, about, now)
            _refusal_settle(task_type, about, now)
        counts = row.state == AnnotationState.COUNTED and row.item.state == ItemState.ACTIVE
        if counts:
            wanted = task_type.follow_ups(row.item.content, row.answer, options)
            keys.append(follow_ups_add(annotation=row, wanted=wanted, now=now))
        elif not _is_refused(row):  # else the review stands, and can be taken back
            follow_ups_withdraw(annotation=row, because="what it asks about does not count any more", now=now)
    return min((key for key in keys if key is not None), default=None)


def _met_exclude(row: Annotation, about: Annotation, now: datetime) -> None:
    """Exclude what was said by who had met what it is about: given both at one moment, before a bar could say so."""
    met = Assignment.objects.filter(surrogate_id=row.surrogate_id, item__in=items_met(about)).exclude(item=row.item_id)
    if row.state == AnnotationState.COUNTED and met.exists():
        annotations_exclude(annotations=[row], because="met before what it is about", actor_id=None, now=now)
        row.refresh_from_db(fields=["state"])


def _refusal_settle(task_type: FollowedUp, about: Annotation, now: datetime) -> None:
    """Exclude an answer that others refuse; count it again once none of those who refused it counts."""
    said = Annotation.objects.filter(
        item__follows=about, item__state=ItemState.ACTIVE, state=AnnotationState.COUNTED
    ).select_related("item")
    reasons = [task_type.refusal(row.item.content, row.answer) for row in said.order_by("pk")]
    why = next((reason for reason in reasons if reason is not None), None)
    if why is not None:
        # By whom, the review says: here a name would stay when its author withdraws.
        annotations_exclude(annotations=[about], because=f"{REFUSED}: {why}", actor_id=None, now=now)
    elif _is_refused(about):
        annotation_count_again(annotation=about, because="the review was taken back", actor_id=None, now=now)


def _is_refused(annotation: Annotation) -> bool:
    """Return whether an annotation does not count because of a review."""
    last = CountedChange.objects.filter(annotation=annotation).order_by("-pk").first()
    return annotation.state == AnnotationState.EXCLUDED and last is not None and last.because.startswith(REFUSED)
