"""The annotations frozen with a release, in every state, read quickly: as text, parsing equal answers only once."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson
from django.db.models import CharField, F, Q, TextField
from django.db.models.functions import Cast

from annotation.models import AnnotationState
from exports.models import Release

MOST_KEPT = 50_000  # answers that are read once
COUNTED = AnnotationState.COUNTED


class FrozenVote(NamedTuple):
    """One annotation as a release froze it; ``item`` is the published id; ``who`` and ``answer`` are text."""

    item_id: int
    item: str
    published_id: str
    who: str
    round: int | None
    rank: int | None
    via: str
    state: str
    because: str
    is_used: bool
    answer: str
    submitted_at: str
    seconds: float
    active_seconds: float | None
    stages: str
    guideline: int | None


def frozen_votes(release: Release, first: int, last: int) -> list[FrozenVote]:
    """Return the annotations of a range of items by item, round and rank; annotations without a slot come last."""
    rows = release.votes.filter(item_id__gte=first, item_id__lte=last).annotate(
        who=Cast("annotation__surrogate_id", CharField()),
        text=Cast("annotation__answer", TextField()),
        on=Cast("annotation__submitted_at", CharField()),
        stages=Cast("annotation__stage_seconds", TextField()),
    )
    found = rows.values_list(
        "item_id",
        "item__published_id",
        "annotation__published_id",
        "who",
        "annotation__slot__round",
        "annotation__slot__index",
        "annotation__via",
        "state",
        "because",
        "is_used",
        "text",
        "on",
        "annotation__seconds",
        "annotation__active_seconds",
        "stages",
        "annotation__guideline__version",
    )
    votes = [FrozenVote(*row) for row in found.iterator(chunk_size=5000)]
    end = 1 << 31
    return sorted(
        votes, key=lambda one: (one.item_id, one.round or end, end if one.rank is None else one.rank, one.published_id)
    )


def labels_given(release: Release, labels: "Answers") -> Iterator[tuple[int, str, Any]]:
    """Yield item, annotator and label of every counted vote. Annotations beyond those a verdict uses aren't votes."""
    is_vote = Q(annotation__slot__round=1, annotation__slot__index__lt=F("item__votes")) | Q(annotation__slot__round=2)
    rows = release.votes.filter(is_vote, state=COUNTED).annotate(
        who=Cast("annotation__surrogate_id", CharField()), text=Cast("annotation__answer", TextField())
    )
    for item, who, text in rows.order_by("annotation_id").values_list("item_id", "who", "text").iterator(5000):
        yield item, who, labels.of(text)


class Answers:
    """A function's cached results for answers: equal answers are parsed only once."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._kept: dict[str, Any] = {}

    def of(self, text: str) -> Any:
        """Return the function's result for an answer in JSON."""
        if text not in self._kept:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[text] = self._make(orjson.loads(text))
        return self._kept[text]
