"""Pairs and their labels as a release froze them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotation.models import Item
from exports.formats.antique import answer_order
from exports.models import Release, ReleaseVerdict, Shortfall
from exports.selectors.members import Pseudonyms
from quality.models import Verdict


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
    """Return the pairs of a release by question and answer, the same order on every database."""
    labels = {
        item: (label, rule)
        for item, label, rule in ReleaseVerdict.objects.filter(release=release).values_list(
            "item_id", "verdict__label", "verdict__rule"
        )
    }
    judged = ReleaseVerdict.objects.filter(release=release).values("item_id")
    short = Shortfall.objects.filter(release=release).values("item_id")
    items = Item.objects.filter(Q(pk__in=judged) | Q(pk__in=short)).select_related("split")
    pairs = [_pair(item, *labels.get(item.pk, (None, ""))) for item in items.iterator(chunk_size=2000)]
    return sorted(pairs, key=lambda pair: (pair.question_id, answer_order(pair.answer_id)))


def _pair(item: Item, label: int | None, rule: str) -> JudgedPair:
    content = item.content
    return JudgedPair(
        item.pk, item.split.name, content["question_id"], content["question_text"], content["answer_id"],
        content["answer_text"], content.get("possibly_correct_id", ""), content["possibly_correct_answer"],
        int(label) if label is not None else None, rule == "expert",
    )  # fmt: skip


def provenance(release: Release, item_ids: list[int], pseudonyms: Pseudonyms) -> Iterator[dict[str, Any]]:
    """Yield every vote that a label rests on, and the expert's opinion, in the order of the pairs."""
    for start in range(0, len(item_ids), 200):
        chunk = item_ids[start : start + 200]
        rows = ReleaseVerdict.objects.filter(release=release, item_id__in=chunk)
        verdicts = {
            row.item_id: row.verdict
            for row in rows.select_related("verdict__item", "verdict__policy", "verdict__opinion").prefetch_related(
                "verdict__annotations__slot", "verdict__annotations__guideline"
            )
        }
        for pk in chunk:
            if pk in verdicts:
                yield from _votes(verdicts[pk], pseudonyms)


def _votes(verdict: Verdict, pseudonyms: Pseudonyms) -> Iterator[dict[str, Any]]:
    content = verdict.item.content
    common = {
        "question_id": content["question_id"], "answer_id": content["answer_id"], "verdict": verdict.label,
        "rule": verdict.rule, "policy_version": verdict.policy.version,
    }  # fmt: skip
    votes = [vote for vote in verdict.annotations.all() if vote.slot is not None]
    for vote in sorted(votes, key=lambda vote: (vote.slot.round, vote.slot.index) if vote.slot else (0, 0)):
        assert vote.slot is not None
        yield {
            **common, "annotation_id": vote.published_id, "annotator": pseudonyms.of(vote.surrogate_id),
            "round": vote.slot.round, "rank": vote.slot.index, "label": vote.answer["label"], "way": vote.answer["way"],
            "seconds": vote.seconds, "active_seconds": vote.active_seconds,
            "submitted_on": vote.submitted_at.date().isoformat(),
            "guideline_version": vote.guideline.version if vote.guideline else None,
        }  # fmt: skip
    if verdict.opinion is not None:
        yield {
            **common, "annotator": pseudonyms.of(verdict.opinion.surrogate_id), "round": None, "is_expert": True,
            "label": verdict.opinion.label, "justification": verdict.opinion.justification,
        }  # fmt: skip
