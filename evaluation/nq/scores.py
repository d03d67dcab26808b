"""Precision, recall and F1 over all thresholds, as the official evaluation computes them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from evaluation.nq.answers import NONE, Gold, Prediction, are_same, is_same

TARGETS = (0.5, 0.75, 0.9)  # precisions at which recall is told
MOST_LISTED = 10  # ids in a message


class ExamplesDiffer(ValueError):
    """Annotations and predictions cover different examples; the message lists some of the differences."""


class Scored(NamedTuple):
    """One example and kind of answer: whether there is an answer, one was given, it is correct; and its score."""

    has_gold: bool
    has_prediction: bool
    is_correct: bool
    score: float


class Example(NamedTuple):
    """Both kinds of answers of one example."""

    example_id: int
    long: Scored
    short: Scored


def score_all(
    gold: Mapping[int, Sequence[Gold]],
    predictions: Mapping[int, Prediction],
    *,
    long_beta: int = 2,
    short_beta: int = 2,
) -> list[Example]:
    """Score every example.

    Parameters
    ----------
    long_beta, short_beta
        The number of annotations with an answer that make an example answerable (β of section 5.1).

    Raises
    ------
    ExamplesDiffer
        An example has no prediction, or a prediction is for an unknown example.
    """
    _refuse_different(gold.keys() - predictions.keys(), predictions.keys() - gold.keys())
    return [
        Example(key, _long(rows, predictions[key], long_beta), _short(rows, predictions[key], short_beta))
        for key, rows in gold.items()
    ]


def _refuse_different(missing: set[int], unknown: set[int]) -> None:
    parts = [
        f"{len(ids)} {what}: {', '.join(map(str, sorted(ids)[:MOST_LISTED]))}{' …' if len(ids) > MOST_LISTED else ''}"
        for ids, what in ((missing, "examples without a prediction"), (unknown, "predictions without an example"))
        if ids
    ]
    if parts:
        raise ExamplesDiffer("; ".join(parts))


def _long(rows: Sequence[Gold], prediction: Prediction, beta: int) -> Scored:
    answers = [row.long for row in rows if row.long is not None]
    has_gold, given = len(answers) >= beta, prediction.long
    is_correct = has_gold and given is not None and any(is_same(answer, given) for answer in answers)
    return Scored(has_gold, given is not None, is_correct, prediction.long_score)


def _short(rows: Sequence[Gold], prediction: Prediction, beta: int) -> Scored:
    has_gold = sum(row.has_short for row in rows) >= beta
    is_correct = has_gold and prediction.has_short and any(is_short(row, prediction) for row in rows)
    return Scored(has_gold, prediction.has_short, is_correct, prediction.short_score)


def is_short(row: Gold, prediction: Prediction) -> bool:
    """Return whether an annotation has the predicted short answer: the same spans, yes or no."""
    if prediction.yes_no != NONE:
        return row.yes_no == prediction.yes_no
    return are_same(row.shorts, prediction.shorts)


def is_said(row: Scored, least: float) -> bool:
    """Return whether a system gives its answer; answers that score below a threshold count as no answer."""
    return row.has_prediction and row.score >= least


class Point(NamedTuple):
    """Precision and recall of the predictions whose score is at least a threshold."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return divided(2 * self.precision * self.recall, self.precision + self.recall)


def divided(part: float, whole: float) -> float:
    """Return a quotient; 0 if the divisor is 0."""
    return part / whole if whole else 0


def curve(rows: Sequence[Scored]) -> Iterator[Point]:
    """Yield a point for each distinct score, highest first."""
    to_find = sum(row.has_gold for row in rows)
    right = given = 0
    ordered = sorted(rows, key=lambda row: row.score, reverse=True)
    for threshold, tied in groupby(ordered, key=lambda row: row.score):
        for row in tied:
            right += row.is_correct
            given += row.has_prediction
        yield Point(threshold, divided(right, given), divided(right, to_find))


def best_point(points: Sequence[Point]) -> Point:
    """Return the first point with the highest F1; a point of zeros if no answer is correct."""
    best = Point(0.0, 0.0, 0.0)
    for point in points:
        if point.f1 > best.f1:
            best = point
    return best


def official_metrics(points: Sequence[Point], prefix: str) -> dict[str, float]:
    """Return the metrics of one kind of answer from its curve, named as in the official evaluation."""
    best = best_point(points)
    metrics: dict[str, float] = {
        "best-threshold-f1": best.f1 or 0.0,
        "best-threshold-precision": best.precision,
        "best-threshold-recall": best.recall,
        "best-threshold": best.threshold,
    }
    for target in TARGETS:
        precision: float = 0
        recall: float = 0
        for point in points:
            if point.precision >= target and point.recall > recall:
                precision, recall = point.precision, point.recall
        metrics[f"recall-at-precision>={target:.2}"] = recall
        metrics[f"precision-at-precision>={target:.2}"] = precision
    return {f"{prefix}-{name}": value for name, value in metrics.items()}
