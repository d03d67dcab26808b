"""Document-based questions (DBQA): sentences ranked by a system, scored by MRR, MAP and ACC@N.

Each line is a pair ``question<TAB>sentence<TAB>label``; the label is 1 if the sentence answers the question. The lines
of a question are consecutive. A system's file has one score per line, in the same order (NLPCC 2017 overview,
section 3, and its guideline).
"""

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.files import EvaluationError
from evaluation.statistics import RESAMPLES, mean_intervals, means
from storage.text_files import LineFault, naming, text_lines

ENCODINGS = ("utf-8", "gb18030")  # the guideline's own sample is GBK, released data is UTF-8
DEPTHS = (1, 3, 5)
MOST_PAIRS = 500_000  # almost three times as many as the training set has


class Ties(StrEnum):
    """How sentences with equal scores are ranked; the shared task doesn't specify it."""

    FILE = "file"  # as they stand in the file
    WORST = "worst"  # those that answer nothing first


class Pair(NamedTuple):
    """A question, a sentence, and whether the sentence answers the question (None in a file without labels)."""

    question: str
    sentence: str
    is_answer: bool | None


def pairs_of(path: Path, *, need_labels: bool = False) -> list[Pair]:
    """Return the pairs of a file.

    Raises
    ------
    EvaluationError
        A line isn't a pair, or lacks a required label. The message names file and line.
    """
    found = []
    for number, text in text_lines(path, ENCODINGS, most=MOST_PAIRS):
        with naming(path, number):
            found.append(_pair(text, need_labels=need_labels))
    if not found:
        raise EvaluationError(f"{path}: holds no pair")
    return found


def read_pairs(path: Path) -> list[list[bool]]:
    """Return, for each question, whether each of its sentences answers it.

    Raises
    ------
    EvaluationError
    """
    found: list[list[bool]] = []
    before = None
    for question, _sentence, is_answer in pairs_of(path, need_labels=True):
        if question != before:
            found.append([])
            before = question
        found[-1].append(bool(is_answer))
    return found


def _pair(text: str, *, need_labels: bool) -> Pair:
    parts = text.split("\t")
    if len(parts) != 3 and (need_labels or len(parts) != 2):
        raise LineFault(f"expected question, sentence and label with tabs between them, found {len(parts)} columns")
    question, sentence, *labels = (part.strip() for part in parts)
    if labels and labels[0] not in ("0", "1"):
        raise LineFault(f"the label {parts[2][:40]!r} is neither 0 nor 1")
    return Pair(question, sentence, labels[0] == "1" if labels else None)


def read_scores(path: Path) -> list[float]:
    """Return the score of each line.

    Raises
    ------
    EvaluationError
    """
    found = []
    for number, text in text_lines(path, most=MOST_PAIRS):
        with naming(path, number):
            try:
                score = float(text)
            except ValueError:
                score = math.nan
            if not math.isfinite(score):
                raise LineFault(f"the score {text[:40]!r} isn't a finite number")
            found.append(score)
    return found


def dbqa_report(
    questions: Sequence[Sequence[bool]],
    scores: Sequence[float],
    *,
    ties: Ties = Ties.FILE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Any]:
    """Return MRR, MAP and ACC@N. A question without an answer scores 0, as in the public scripts.

    Raises
    ------
    EvaluationError
        The number of scores differs from the number of pairs.
    """
    pairs = sum(map(len, questions))
    if pairs != len(scores):
        raise EvaluationError(f"there are {pairs:,} pairs and {len(scores):,} scores: expected one score for each pair")
    values: dict[str, list[float]] = {"MRR": [], "MAP": [], **{f"ACC@{depth}": [] for depth in DEPTHS}}
    tied = begin = 0
    for labels in questions:
        given = scores[begin : begin + len(labels)]
        begin += len(labels)
        ranked = sorted(zip(given, labels, strict=True), key=lambda row: (-row[0], row[1] and ties is Ties.WORST))
        tied += any(one[0] == other[0] and one[1] != other[1] for one, other in pairwise(ranked))
        for name, value in ranking_scores([label for _score, label in ranked]).items():
            values[name].append(value)
    return {
        "questions": len(questions),
        "pairs": pairs,
        "without_answer": sum(not any(labels) for labels in questions),
        "ties": ties.value,
        "questions_with_ties_that_matter": tied,
        "metrics": means(values),
        "intervals": mean_intervals(values, resamples=resamples, seed=seed),
    }


def ranking_scores(ranked: Sequence[bool]) -> dict[str, float]:
    """Return the scores of one question from its ranked labels. All sentences are ranked, so min(m, n) is m."""
    places = [place for place, is_answer in enumerate(ranked, 1) if is_answer]
    first = places[0] if places else math.inf
    return {
        "MRR": 1 / first,
        "MAP": sum(count / place for count, place in enumerate(places, 1)) / len(places) if places else 0.0,
        **{f"ACC@{depth}": float(first <= depth) for depth in DEPTHS},
    }
