"""The statistics of the ANTIQUE paper (Hashemi et al. 2020, sections 3.1 and 4) for a campaign with voting."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Campaign, Item, ItemState, Slot
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from measures.questions import starting_trigrams
from measures.studies import Share, share_of
from quality.dashboard.selectors.summary import summary_of
from quality.models import Case, CaseReason, CaseState, Rule, Verdict
from quality.policies.policy import Process
from quality.policies.selectors import policy_current
from quality.studies.selectors.studies import StudyError


@dataclass
class _Split:
    """Counts for one split: the text and number of judged answers of each question, and the labels."""

    questions: dict[str, str] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)
    answer_words: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    known: set[Any] = field(default_factory=set)


def relevance_study_of(campaign: Campaign) -> dict[str, Any]:
    """Return Table 1, the questions' starting trigrams (Figure 1), answers per question (Figure 2), and more.

    More: the items without agreement and the cost. Each label known without a vote is counted once, as in the published
    numbers. Refused annotations and annotations excluded but paid are separate; the paper's "rejected" includes both.
    Reads every item, so use it only in commands.

    Raises
    ------
    StudyError
        The answers of this campaign aren't voted on.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Voted):
        raise StudyError("study_of_votes", task_type=str(task_type.title))
    splits, summary = _splits(campaign), summary_of(campaign)
    questions = [text for split in splits.values() for text in split.questions.values()]
    return {
        "splits": {name: _counted(split, [str(label) for label in task_type.labels]) for name, split in splits.items()},
        "workers": summary.workers,
        "judgments": summary.judgments,
        "refused": summary.refused,
        "excluded_and_paid": summary.excluded_paid,
        "cost": {"rewards": summary.reward_cents, "bonuses": summary.bonus_cents, "fees": summary.fee_cents},
        "by_expert": summary.rules[Rule.EXPERT],
        "no_agreement": list(_no_agreement(campaign)),
        "trigrams": [
            {"trigram": trigram, "questions": count, "share": count / len(questions)}
            for trigram, count in starting_trigrams(questions)
        ],
        "answers_per_question": dict(
            sorted(Counter(n for one in splits.values() for n in one.answers.values()).items())
        ),
    }


def _splits(campaign: Campaign) -> dict[str, _Split]:
    task_type = TASK_TYPES[campaign.task_type]
    assert isinstance(task_type, Voted)
    labels = dict(
        Verdict.objects.filter(unsealed(), campaign=campaign, superseded_at=None).values_list("item", "label")
    )
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    rows = items.annotate(text=Cast("content", TextField())).order_by("split__position", "pk")
    splits: dict[str, _Split] = defaultdict(_Split)
    for pk, name, text in rows.values_list("pk", "split__name", "text").iterator(chunk_size=2000):
        content, split = orjson.loads(text), splits[name]
        key = task_type.question_key(content) or str(pk)
        split.questions[key] = content.get("question_text", "")
        if pk in labels:
            split.answers[key] += 1
            split.answer_words += len(content.get("answer_text", "").split())
            split.labels[str(labels[pk])] += 1
        known = task_type.known_label(content)
        if known is not None and known[0] not in split.known:
            split.known.add(known[0])
            split.labels[str(known[1])] += 1
    return splits


def _counted(split: _Split, labels: list[str]) -> dict[str, Any]:
    """Return the rows of Table 1 for a split; lengths are in words separated by spaces."""
    words = sum(len(text.split()) for text in split.questions.values())
    return {
        "questions": len(split.questions),
        "answers": split.answers.total(),
        "question_length": round(words / len(split.questions), 2),
        "answer_length": round(split.answer_words / max(split.answers.total(), 1), 2),
        "labels": {label: split.labels[label] for label in labels},
        "known_without_a_vote": len(split.known),
    }


def _no_agreement(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield by batch and round the numbers of items in the round and of items without agreement.

    Yields nothing under policies without a strict majority, since they have no such rounds.
    """
    found = policy_current(campaign)
    if found is not None and found[1].process is not Process.PAPER:
        return
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    second = _by_batch(Slot.objects.filter(item__in=items, round=2).values_list("item__batch__ordinal", "item"))
    cases = Case.objects.filter(item__in=items, because=CaseReason.NO_AGREEMENT).exclude(state=CaseState.RECALLED)
    third = _by_batch(cases.values_list("item__batch__ordinal", "item"))
    verdicts = Verdict.objects.filter(item__in=items, superseded_at=None)
    first = _by_batch(verdicts.filter(rule=Rule.MAJORITY).values_list("item__batch__ordinal", "item"))
    later = _by_batch(verdicts.exclude(rule=Rule.MAJORITY).values_list("item__batch__ordinal", "item"))
    expert = _by_batch(verdicts.filter(rule=Rule.EXPERT).values_list("item__batch__ordinal", "item"))
    for batch in sorted({*first, *second, *later}):
        again = second[batch] - first[batch]
        yield {"batch": batch, "round": 1, "none": _share(len(again), len(first[batch] | again | later[batch]))}
        if again:
            undecided = (third[batch] | expert[batch]) & again
            yield {"batch": batch, "round": 2, "none": _share(len(undecided), len((later[batch] & again) | undecided))}


def _by_batch(rows: Any) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for batch, item in rows:
        found[batch].add(item)
    return found


def _share(part: int, of: int) -> Share:
    return share_of([1] * part + [0] * (of - part))
