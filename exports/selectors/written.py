"""Written questions: which ones a release includes, and the data about them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, Item, ItemState, Split
from annotation.tasktypes.base import options_from
from annotation.tasktypes.registry import TASK_TYPES
from annotation.tasktypes.writing.task import OPTIONS, REJECT, REVIEW, Writing
from annotation.tasktypes.writing.texts import key_of
from exports.models import Release
from exports.selectors.members import in_order


class Accepted(NamedTuple):
    """A counted written annotation with its item and rank, and its follow-up annotations as (annotation, item)."""

    annotation_id: int
    item_id: int
    rank: int
    followed: tuple[tuple[int, int], ...]


class WrittenQuestion(NamedTuple):
    """A question in a release. ``recovered``: whether a third person found its answer; None if not asked."""

    item: str  # published ids
    annotation: str
    content: Mapping[str, Any]
    question: str
    answer: str
    sentence: int | None
    decision: str | None
    recovered: bool | None


def accepted(campaign: Campaign, splits: Iterable[Split]) -> Iterator[Accepted]:
    """Yield the counted questions of splits that passed review, if reviewed; of equal texts only the first."""
    needs_review = options_from(OPTIONS, campaign.options)["review"]
    after = _followed(campaign)
    asked = Item.objects.filter(campaign=campaign, follows__isnull=False, state=ItemState.ACTIVE)
    asks = dict(asked.values_list("follows_id", "content__asks"))
    seen: set[str] = set()
    for split in splits:
        counted = Annotation.objects.filter(
            campaign=campaign,
            state=AnnotationState.COUNTED,
            slot__round=1,
            item__split=split,
            item__state=ItemState.ACTIVE,
            item__batch__purpose__in=ORDINARY,
        )
        rows = counted.order_by("pk").values_list("pk", "item_id", "slot__index", "answer")
        for pk, item_id, rank, answer in rows.iterator(chunk_size=2000):
            review = after.get(pk)
            reviewed = review[2] if review is not None and review[2]["asks"] == REVIEW else None
            if reviewed is None and (asks.get(pk) == REVIEW or (needs_review and pk not in asks)):
                continue
            if reviewed is not None and reviewed["decision"] == REJECT:
                continue
            key = key_of((reviewed or answer)["question"])
            if key in seen:
                continue
            seen.add(key)
            chain = [review, after.get(review[0])] if review is not None else []
            yield Accepted(pk, item_id, rank, tuple((one[0], one[1]) for one in chain if one is not None))


def _followed(campaign: Campaign) -> dict[int, tuple[int, int, Any]]:
    """Return each counted follow-up as (annotation, item, answer), by the answer that it is about."""
    rows = Annotation.objects.filter(
        campaign=campaign, state=AnnotationState.COUNTED, item__follows__isnull=False, item__state=ItemState.ACTIVE
    )
    return {
        about: (pk, item_id, answer)
        for about, pk, item_id, answer in rows.order_by("pk").values_list("item__follows_id", "pk", "item_id", "answer")
    }


def written_questions(release: Release, split: str) -> list[WrittenQuestion]:
    """Return the questions of a split in the order that a release writes them."""
    members = release.members.filter(item__split__name=split).select_related("annotation", "item")
    by_about = {row.item.follows_id: row for row in members.filter(item__follows__isnull=False)}
    written = {row.annotation_id: row for row in members.filter(item__follows=None)}
    order = in_order(release, ((pk, row.item_id, f"{row.item.published_id} {row.rank}") for pk, row in written.items()))
    task_type = TASK_TYPES[release.campaign.task_type]
    assert isinstance(task_type, Writing)
    return [_question(task_type, written[pk].annotation, written[pk].item, by_about) for pk in order]


def _question(
    task_type: Writing, annotation: Annotation, item: Item, by_about: Mapping[int | None, Any]
) -> WrittenQuestion:
    said = annotation.answer
    follow = by_about.get(annotation.pk)
    review = follow if follow is not None and follow.annotation.answer["asks"] == REVIEW else None
    blind = by_about.get(review.annotation_id) if review is not None else follow
    return WrittenQuestion(
        item.published_id,
        annotation.published_id,
        item.content,
        (review.annotation.answer if review else said)["question"],
        said["answer"],
        said.get("sentence"),
        review.annotation.answer["decision"] if review else None,
        task_type.recovers(blind.item.content, blind.annotation.answer) if blind is not None else None,
    )
