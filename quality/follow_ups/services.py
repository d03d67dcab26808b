"""Follow-ups of answers: reviews and blind answers, and the effect of a review on the reviewed answer."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from annotation.items.services.follow_ups import follow_ups_add, follow_ups_withdraw
from annotation.models import Annotation, AnnotationState, Assignment, Campaign, CountedChange, ItemState, Purpose
from annotation.slots.services.bars import family_of
from annotation.slots.services.counting import annotation_count_again, annotations_exclude
from annotation.tasktypes.base import FollowedUp
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.shown import options_of
from database.transactions import require_transaction

DEAD = "what it asks about does not count any more"
REFUSED = "refused in review"  # how the reason begins for which an answer was excluded by another
_FOLLOWED = (Purpose.WORK, Purpose.STUDY, Purpose.REVIEW)  # batches of whose answers others are asked


def followed_by(annotations: Iterable[Annotation]) -> list[Annotation]:
    """Return the answers that follow-up annotations are about. Lock their authors and rows before the follow-ups'."""
    keys = {row.item.follows_id for row in annotations if row.item.follows_id is not None}
    return list(Annotation.objects.filter(pk__in=keys).order_by("pk"))


def follow_ups_settle(*, campaign: Campaign, annotations: Collection[Annotation], now: datetime) -> int | None:
    """Create follow-ups of counted locked annotations, withdraw those of others, and apply refusals by reviews.

    The people, annotations and items of `followed_by` are locked as well. Returns the queue position of the first
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
            counts = _about_settle(task_type, row, now) and counts
        if counts:
            _restored_settle(task_type, row, now)
            wanted = task_type.follow_ups(row.item.content, row.answer, options)
            keys.append(follow_ups_add(annotation=row, wanted=wanted, now=now))
            # What was said of it while it did not count is looked at again.
            Annotation.objects.filter(item__follows=row, state=AnnotationState.COUNTED).update(is_examined=False)
        elif not _is_refused(row):  # else the review stands, and can be taken back
            follow_ups_withdraw(annotation=row, because=DEAD, now=now)
    return min((key for key in keys if key is not None), default=None)


def _about_settle(task_type: FollowedUp, row: Annotation, now: datetime) -> bool:
    """Apply a follow-up's effect on the answer it is about; return whether both are counted."""
    assert row.item.follows_id is not None
    about = Annotation.objects.select_related("item").get(pk=row.item.follows_id)
    met = Assignment.objects.filter(surrogate_id=row.surrogate_id, item__in=family_of(row.item_id))
    if row.state == AnnotationState.COUNTED and met.exclude(item=row.item_id).exists():
        # Given both at one moment, before a bar could say so, or under two names.
        annotations_exclude(annotations=[row], because="met before what it is about", actor_id=None, now=now)
    _refusal_settle(task_type, about, now)
    states = Annotation.objects.filter(pk__in=[row.pk, about.pk]).values_list("state", flat=True)
    return all(state == AnnotationState.COUNTED for state in states)


def _refusal_settle(task_type: FollowedUp, about: Annotation, now: datetime) -> None:
    """Exclude an answer that a review refuses; count it again once no counted review refuses it."""
    why = next((why for _row, why in _refusals(task_type, about)), None)
    if why is not None:
        # By whom, the review says: here a name would stay when its author withdraws.
        annotations_exclude(annotations=[about], because=f"{REFUSED}: {why}", actor_id=None, now=now)
    elif _is_refused(about) and not annotation_count_again(
        annotation=about, because="the review was taken back", actor_id=None, now=now
    ):
        follow_ups_withdraw(annotation=about, because=DEAD, now=now)  # another has its place


def _restored_settle(task_type: FollowedUp, row: Annotation, now: datetime) -> None:
    """Ask for new follow-ups of an answer that was counted again by hand although a review refused it."""
    if any(review.is_examined for review, _why in _refusals(task_type, row)):
        follow_ups_withdraw(annotation=row, because="its answer was counted again", now=now)


def _refusals(task_type: FollowedUp, about: Annotation) -> Iterator[tuple[Annotation, str]]:
    said = Annotation.objects.filter(
        item__follows=about, item__state=ItemState.ACTIVE, state=AnnotationState.COUNTED
    ).select_related("item")
    for row in said.order_by("pk"):
        why = task_type.refusal(row.item.content, row.answer)
        if why is not None:
            yield row, why


def _is_refused(annotation: Annotation) -> bool:
    """Return whether an annotation is excluded because of a review."""
    last = CountedChange.objects.filter(annotation=annotation).order_by("-pk").first()
    return annotation.state == AnnotationState.EXCLUDED and last is not None and last.because.startswith(REFUSED)
