"""Selection of questions from a collection: the filters of ANTIQUE (Hashemi et al. 2020, section 3), in its order.

Records are those of nfL6: ``id``, ``question``, ``nbestanswers``, ``answer`` (the best one) and ``main_category``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sources.rules.faults import RecordFault
from sources.rules.near_duplicates import Overlap, Terms, near_duplicates
from sources.rules.terms import terms_of

LEAST_TERMS = 3
EXCLUDED = ("Yahoo! Products", "Computers & Internet")
TOO_SHORT, NO_BEST, CATEGORY, NEAR, NOT_DRAWN = "too short", "no best answer", "category", "near duplicate", "not drawn"
Record = Mapping[str, Any]
Drawn = Callable[[str], int]  # a number for an id, by seed: the lowest are drawn


class Question(NamedTuple):
    """A readable record, and its row in its file."""

    row: int
    id: str
    record: Record


@dataclass(frozen=True, slots=True)
class Filters:
    """The criteria for keeping a question."""

    least_terms: int = LEAST_TERMS
    excluded: tuple[str, ...] = EXCLUDED
    overlap: Overlap = field(default_factory=Overlap)
    sample: int | None = None  # how many of the remaining questions to draw


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for each question: why it was dropped, and for near duplicates which one was kept."""

    dropped: dict[str, tuple[str, dict[str, Any]]]
    alone: dict[str, int]  # how many each filter would drop by itself

    @property
    def together(self) -> dict[str, int]:
        """Return the number of questions that each filter dropped from those left by the filters before it."""
        counts = Counter(why for why, _more in self.dropped.values())
        return {why: counts[why] for why in (*self.alone, NOT_DRAWN)}


def question_of(record: Record) -> tuple[str, Record]:
    """Return the id of a question, and its record.

    Raises
    ------
    RecordFault
        Its id or its text is missing or isn't a text, or its answers aren't a list of texts.
    """
    for column in ("id", "question"):
        if not isinstance(record.get(column), str) or not record[column].strip():
            raise RecordFault(column, "expected a text")
    if len(record["id"].split()) != 1:
        raise RecordFault("id", "is one word: runs are read by their blanks")
    answers = record.get("nbestanswers", [])
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        raise RecordFault("nbestanswers", "expected a list of texts")
    return record["id"].strip(), record


def filtered(questions: Iterable[Question], filters: Filters, drawn: Drawn) -> Outcome:
    """Return the result for questions with different ids.

    Of near duplicates, a randomly drawn one is kept; a sample is then drawn from the remaining questions. A record's
    other content isn't kept in memory, so that a large file needs little of it.
    """
    terms: dict[str, Terms] = {}
    reasons: dict[str, list[str]] = {TOO_SHORT: [], NO_BEST: [], CATEGORY: []}
    for one in questions:
        words = terms_of(one.record["question"])
        terms[one.id] = frozenset(words)
        for why in _reasons(one.record, len(words), filters):
            reasons[why].append(one.id)
    near = _near(terms, filters, drawn)
    alone = {
        TOO_SHORT: len(reasons[TOO_SHORT]),
        NO_BEST: len(reasons[NO_BEST]),
        NEAR: len(near),
        CATEGORY: len(reasons[CATEGORY]),
    }
    dropped: dict[str, tuple[str, dict[str, Any]]] = {}
    for why in (TOO_SHORT, NO_BEST):
        _drop(dropped, {key: (why, {}) for key in reasons[why]})
    _drop(dropped, _near({key: found for key, found in terms.items() if key not in dropped}, filters, drawn))
    _drop(dropped, {key: (CATEGORY, {}) for key in reasons[CATEGORY]})
    if filters.sample is not None:
        order = sorted((key for key in terms if key not in dropped), key=drawn)
        _drop(dropped, {key: (NOT_DRAWN, {}) for key in order[filters.sample :]})
    return Outcome(dropped, alone)


def _drop(dropped: dict[str, tuple[str, dict[str, Any]]], more: dict[str, tuple[str, dict[str, Any]]]) -> None:
    for key, why in more.items():
        dropped.setdefault(key, why)


def _near(terms: Mapping[str, Terms], filters: Filters, drawn: Drawn) -> dict[str, tuple[str, dict[str, Any]]]:
    found = near_duplicates(terms, filters.overlap, lambda group: min(group, key=drawn))
    return {one.text: (NEAR, {"kept": one.kept, "share": round(float(one.share), 4)}) for one in found}


def _reasons(record: Record, terms: int, filters: Filters) -> Iterator[str]:
    if terms < filters.least_terms:
        yield TOO_SHORT
    best = record.get("answer")
    if not isinstance(best, str) or not best.strip() or best not in record.get("nbestanswers", []):
        yield NO_BEST
    if record.get("main_category") in filters.excluded:
        yield CATEGORY
