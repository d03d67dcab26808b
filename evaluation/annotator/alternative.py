"""The alternative annotator test, which says whether a model may replace an annotator.

N. Calderon, R. Reichart and R. Dror (2025). The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
Replacing Human Annotators with LLMs. ACL.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluation.annotator.files import Votes
from evaluation.files import EvaluationError

FEWEST = 30  # items of an annotator, and of other people's on them, for a t-test
LEVEL = 0.05  # of the false discovery rate
PASSES = 0.5  # of ω
EPSILONS = {"experts": 0.2, "skilled": 0.15, "crowd": 0.1}  # what a person's cost and trouble are worth (section 3.2)


class Alignment(StrEnum):
    """The measure of how close a label is to the labels of other annotators."""

    ACCURACY = "accuracy"  # the share of them that are the same
    RMSE = "rmse"  # less the root of the mean squared difference, for numbers


@dataclass(frozen=True, slots=True)
class Compared:
    """An annotator compared with the model, on the items of both that other annotators labeled too.

    ``model`` and ``person``: the share of items on which each is at least as close to the others' labels as the other.
    ``p``: the p-value of the hypothesis that the model isn't better than the annotator less ε, corrected for the number
    of annotators.
    """

    annotator: str
    items: int
    model: float
    person: float
    p: float


def alternative_report(
    votes: Votes, labels: Mapping[str, str], *, epsilon: float, alignment: Alignment
) -> dict[str, Any]:
    """Return ω, the share of annotators that the model may replace, ρ, its mean advantage, and each comparison.

    Raises
    ------
    EvaluationError
        No annotator has enough items that others labeled too, or labels aren't numbers although they must be.
    """
    near = _rmse if alignment is Alignment.RMSE else _accuracy
    if alignment is Alignment.RMSE:
        _check_numbers(votes)
    wins = _wins(votes, labels, near)
    tested = {who: rows for who, rows in sorted(wins.items()) if len(rows) >= FEWEST}
    if not tested:
        raise EvaluationError(f"no annotator labelled {FEWEST} items that others labelled too")
    p = _corrected({who: _p([person - model for model, person in rows], epsilon) for who, rows in tested.items()})
    compared = [
        Compared(who, len(rows), _mean([row[0] for row in rows]), _mean([row[1] for row in rows]), p[who])
        for who, rows in tested.items()
    ]
    omega = _mean([one.p < LEVEL for one in compared])
    return {
        "items": len(votes),
        "annotators": len(wins),
        "tested": len(tested),
        "epsilon": epsilon,
        "alignment": alignment.value,
        "omega": omega,
        "rho": _mean([one.model for one in compared]),
        "passes": omega >= PASSES,
        "agreement": _agreement(votes, labels),
        "compared": [
            {"annotator": one.annotator, "items": one.items, "model": one.model, "person": one.person, "p": one.p}
            for one in compared
        ],
    }


Near = Callable[[str, list[str]], float]


def _wins(votes: Votes, labels: Mapping[str, str], near: Near) -> dict[str, list[tuple[int, int]]]:
    """Return, by annotator, for each shared item: (model at least as close to the others, person at least as close)."""
    found: dict[str, list[tuple[int, int]]] = {}
    for item, given in sorted(votes.items()):
        for who, label in given.items():
            others = [one for other, one in given.items() if other != who]
            if others:
                model, person = near(labels[item], others), near(label, others)
                found.setdefault(who, []).append((int(model >= person), int(person >= model)))
    return found


def _accuracy(label: str, others: list[str]) -> float:
    return others.count(label) / len(others)


def _rmse(label: str, others: list[str]) -> float:
    return -math.sqrt(sum((float(label) - float(other)) ** 2 for other in others) / len(others))


def _check_numbers(votes: Votes) -> None:
    for label in {label for given in votes.values() for label in given.values()}:
        try:
            float(label)
        except ValueError:
            raise EvaluationError(f"the label {label!r} isn't a number, which rmse needs") from None


def _p(differences: list[int], epsilon: float) -> float:
    """Return the p of a one-sided t-test that the person's mean advantage is ε or more."""
    if len(set(differences)) == 1:
        return 0.0 if differences[0] < epsilon else 1.0
    from scipy import stats  # type: ignore[import-untyped]  # noqa: PLC0415  half a second that other kinds of evaluation do not need

    return float(stats.ttest_1samp(differences, epsilon, alternative="less").pvalue)


def _corrected(found: Mapping[str, float]) -> dict[str, float]:
    """Return p values corrected by Benjamini and Yekutieli (2001): annotators of the same items depend on each other."""
    from scipy import stats  # noqa: PLC0415

    return dict(zip(found, map(float, stats.false_discovery_control(list(found.values()), method="by")), strict=True))


def _agreement(votes: Votes, labels: Mapping[str, str]) -> dict[str, float]:
    """Return how often the model, and a person, says the same as another person, as a mean over items with two votes."""
    items = [item for item, given in votes.items() if len(given) >= 2]
    model = [_accuracy(labels[item], list(votes[item].values())) for item in items]
    people = [
        _mean(
            [
                _accuracy(label, [one for other, one in votes[item].items() if other != who])
                for who, label in votes[item].items()
            ]
        )
        for item in items
    ]
    return {"model": _mean(model), "people": _mean(people)}


def _mean(values: list[Any]) -> float:
    return sum(values) / len(values) if values else 0.0
