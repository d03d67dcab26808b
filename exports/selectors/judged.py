"""Pairs and their labels as a release froze them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from annotation.models import Item
from exports.formats.antique import answer_order
from exports.models import Release
from exports.selectors.within import within


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A pair; ``label`` is None for one that has no verdict yet."""

    item_id: int
    split: str
    question_id: str
    question_text: str
    answer_id: str
    answer_text: str
    best_id: str
    best_text: str
    label: int | None
    by_expert: bool


def judged_pairs(release: Release) -> list[JudgedPair]:
    """Return the pairs of a release by question and answer, in the same order on every database."""
    labels = {item: (orjson.loads(label), rule) for item, label, rule in _labels(release)}
    frozen = Q(within(release.verdicts.all(), of="pk")) | Q(within(release.shortfall.all(), of="pk"))
    items = Item.objects.filter(frozen).annotate(text=Cast("content", TextField()))
    rows = items.values_list("pk", "split__name", "text").iterator(chunk_size=5000)
    pairs = [_pair(pk, split, orjson.loads(text), *labels.get(pk, (None, ""))) for pk, split, text in rows]
    return sorted(pairs, key=lambda pair: (pair.question_id, answer_order(pair.answer_id)))


def _labels(release: Release) -> Iterable[tuple[int, str, str]]:
    rows = release.verdicts.annotate(label=Cast("verdict__label", TextField()))
    return rows.values_list("item_id", "label", "verdict__rule").iterator(chunk_size=5000)


def _pair(pk: int, split: str, content: dict[str, Any], label: int | None, rule: str) -> JudgedPair:
    return JudgedPair(
        pk,
        split,
        content["question_id"],
        content["question_text"],
        content["answer_id"],
        content["answer_text"],
        content.get("possibly_correct_id", ""),
        content["possibly_correct_answer"],
        int(label) if label is not None else None,
        rule == "expert",
    )
