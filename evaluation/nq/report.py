"""The report on a system: the official numbers, their uncertainty, and a breakdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.nq.answers import NONE, Gold, Prediction
from evaluation.nq.humans import human_bounds
from evaluation.nq.scores import Example, Scored, best_point, curve, divided, is_said, official_metrics, score_all
from evaluation.statistics import RESAMPLES, interval_of_extreme


def nq_report(
    gold: Mapping[int, Sequence[Gold]],
    predictions: Mapping[int, Prediction],
    *,
    long_beta: int = 2,
    short_beta: int = 2,
    resamples: int = RESAMPLES,
    seed: int = 0,
    references: int = 0,
) -> tuple[dict[str, Any], list[Example]]:
    """Return the report, and the scoring of each example.

    The report holds ``metrics`` (the official numbers), ``accuracy`` (the share of examples on which Definition 1 of
    section 5.1 is 1, where scores below the best threshold mean no answer), ``intervals`` (95%, of F1, precision and
    recall at the best threshold, over resampled examples), ``by_type`` (the correct answers among examples of each
    kind, at the best threshold) and ``conditional`` (after section 6.4: see `_conditional`). With ``references``,
    ``people`` holds human performance (see `human_bounds`).

    Raises
    ------
    ExamplesDiffer, TooFewAnnotations
    """
    examples = score_all(gold, predictions, long_beta=long_beta, short_beta=short_beta)
    kinds = {"long": [one.long for one in examples], "short": [one.short for one in examples]}
    curves = {kind: list(curve(rows)) for kind, rows in kinds.items()}
    metrics: dict[str, float] = {}
    for kind, points in curves.items():
        metrics |= official_metrics(points, kind)
    least = {kind: best_point(points).threshold for kind, points in curves.items()}
    report = {
        "examples": len(examples),
        "metrics": metrics,
        "accuracy": {kind: _accuracy(rows, least[kind]) for kind, rows in kinds.items()},
        "intervals": {kind: _intervals(rows, least[kind], resamples, seed) for kind, rows in kinds.items()},
        "by_type": _by_type(gold, examples, least),
        "conditional": _conditional(examples),
    }
    if references:
        betas = {"long": long_beta, "short": short_beta}
        report["people"] = human_bounds(
            gold, predictions, examples, least, betas=betas, references=references, seed=seed
        )
    return report, examples


def _accuracy(rows: Sequence[Scored], least: float) -> float:
    right = sum(
        row.is_correct if row.has_gold else not is_said(row, least)
        for row in rows
        if not row.has_gold or is_said(row, least)
    )
    return divided(right, len(rows))


def _intervals(rows: Sequence[Scored], least: float, resamples: int, seed: int) -> dict[str, list[float]]:
    """Return 95% percentile intervals over examples drawn with replacement; the threshold is kept fixed.

    A share of 0 or 1 gets Wilson's interval, because drawing again shows no other value.
    """
    if not rows or not resamples:
        return {}
    import numpy as np  # noqa: PLC0415  a sixth of a second that scores alone do not need

    flags = np.array(
        [(is_said(row, least) and row.is_correct, is_said(row, least), row.has_gold) for row in rows], dtype=np.float64
    )
    draw = np.random.default_rng(seed)
    sums = np.array([draw.multinomial(len(rows), np.full(len(rows), 1 / len(rows))) @ flags for _ in range(resamples)])
    right, said, there = sums.T
    precision = np.divide(right, said, out=np.zeros_like(right), where=said > 0)
    recall = np.divide(right, there, out=np.zeros_like(right), where=there > 0)
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    right_once, said_once, there_once = flags.sum(axis=0)
    shares = {
        "f1": (2 * right_once, said_once + there_once, f1),
        "precision": (right_once, said_once, precision),
        "recall": (right_once, there_once, recall),
    }
    return {
        name: list(
            interval_of_extreme({divided(part, whole)}, round(whole if name != "f1" else whole / 2))
            or map(float, np.quantile(values, (0.025, 0.975)))
        )
        for name, (part, whole, values) in shares.items()
    }


def _by_type(
    gold: Mapping[int, Sequence[Gold]], examples: Sequence[Example], least: Mapping[str, float]
) -> dict[str, dict[str, int]]:
    """Return, for each kind of example, the numbers of examples, of answered examples, and of correct answers."""
    counts: dict[str, dict[str, int]] = {}
    for one in examples:
        kind = _type(gold[one.example_id], one)
        scored = one.short if one.short.has_gold else one.long
        limit = least["short"] if one.short.has_gold else least["long"]
        found = counts.setdefault(kind, {"examples": 0, "answered": 0, "right": 0})
        found["examples"] += 1
        found["answered"] += is_said(scored, limit)
        found["right"] += is_said(scored, limit) and scored.is_correct
    return dict(sorted(counts.items()))


def _type(rows: Sequence[Gold], one: Example) -> str:
    if not one.short.has_gold:
        return "long answer only" if one.long.has_gold else "no answer"
    yes_or_no = sum(row.yes_no != NONE for row in rows)
    if 2 * yes_or_no > sum(row.has_short for row in rows):
        return "yes or no"
    several = sum(len(row.shorts) > 1 for row in rows)
    return "several spans" if 2 * several > sum(bool(row.shorts) for row in rows) else "one span"


def _conditional(examples: Sequence[Example]) -> dict[str, Any]:
    """Return the two scores of section 6.4, estimated from a prediction file without a threshold.

    ``answerable``: F1 over the examples that have both kinds of answers, so the decision whether to answer is excluded.
    ``short_given_long``: F1 of short answers over those of these examples whose predicted long answer is correct. This
    approximates giving the system the long answer.
    """
    both = [one for one in examples if one.long.has_gold and one.short.has_gold]
    given = [one.short for one in both if one.long.is_correct]
    return {
        "answerable": {
            "examples": len(both),
            "long": _f1([one.long for one in both]),
            "short": _f1([one.short for one in both]),
        },
        "short_given_long": {"examples": len(given), "short": _f1(given)},
    }


def _f1(rows: Sequence[Scored]) -> float:
    right = sum(row.is_correct for row in rows)
    precision = divided(right, sum(row.has_prediction for row in rows))
    recall = divided(right, sum(row.has_gold for row in rows))
    return divided(2 * precision * recall, precision + recall)
