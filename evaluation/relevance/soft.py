"""Soft labels: a system's probabilities compared with the vote shares (or the posterior) of a release.

A prediction is a line of JSON: ``{"item_id": "…", "probabilities": {"1": 0.1, "2": 0.2, "3": 0.3, "4": 0.4}}``.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError
from evaluation.item_lines import read_item_lines
from evaluation.statistics import RESAMPLES, mean_intervals, means
from exports.released.folder import FolderError, ReleasedFolder
from storage.text_files import LineFault

MOST_ITEMS = 1_000_000
_ROUNDING = 1e-3  # by which probabilities may miss 1 altogether
_LEAST = 1e-12  # a probability of 0 for what happened would cost infinitely much
_MOST_NAMED = 20
Shares = tuple[float, ...]  # of each label, in the order of the release


class SoftTarget(StrEnum):
    """The distribution that a system's probabilities are compared with."""

    VOTES = "votes"  # the shares of the votes that count
    POSTERIOR = "posterior"  # by the model of Dawid and Skene


def read_soft_labels(folder: Path, target: SoftTarget) -> tuple[list[str], dict[str, Shares]]:
    """Return the labels of a release and, for each item with votes, the share of each label.

    Raises
    ------
    EvaluationError
        The folder isn't a release with a table of labels.
    """
    try:
        released = ReleasedFolder(folder)
        labels = _labels(released, target)
        found = dict(_shares(released, [f"{target.value}_{label}" for label in labels]))
    except FolderError as error:
        raise EvaluationError(str(error)) from error
    if not found:
        raise EvaluationError(f"{folder}: no item has votes")
    return labels, found


def _labels(released: ReleasedFolder, target: SoftTarget) -> list[str]:
    if "labels" not in released.tables:
        raise FolderError(f"{released.path}: this release has no labels: its task type has no vote")
    begins = f"{target.value}_"
    return [name.removeprefix(begins) for name in released.kinds("labels") if name.startswith(begins)]


def _shares(released: ReleasedFolder, columns: Sequence[str]) -> Iterator[tuple[str, Shares]]:
    for number, row in enumerate(released.rows("labels", ("item_id", *columns)), 1):
        if number > MOST_ITEMS:
            raise FolderError(f"{released.path}: has more than {MOST_ITEMS:,} labels")
        given = [row[name] or 0 for name in columns]
        if not isinstance(row["item_id"], str) or any(not 0 <= value < math.inf for value in given):
            raise FolderError(f"{released.path}: labels: row {number}: expected an item_id, and no votes below 0")
        if sum(given) > 0:
            yield row["item_id"], tuple(value / sum(given) for value in given)


def read_probabilities(path: Path, labels: Sequence[str]) -> dict[str, Shares]:
    """Return the probability of each label, by item.

    Raises
    ------
    EvaluationError
    """
    return dict(read_item_lines(path, lambda row: _probabilities(row, labels), most=MOST_ITEMS))


def _probabilities(row: Mapping[str, Any], labels: Sequence[str]) -> Shares:
    given = row.get("probabilities")
    if not isinstance(given, Mapping) or set(given) != set(labels):
        raise LineFault(f"probabilities: expected one for each of {', '.join(labels)}")
    shares = tuple(given[label] for label in labels)
    if any(isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one <= 1 for one in shares):
        raise LineFault("probabilities: expected numbers between 0 and 1")
    if abs(sum(shares) - 1) > _ROUNDING:
        raise LineFault(f"probabilities: their sum is {sum(shares):.4f}, not 1")
    return tuple(one / sum(shares) for one in shares)


def soft_report(
    wanted: Mapping[str, Shares],
    predicted: Mapping[str, Shares],
    labels: Sequence[str],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Any]:
    """Return cross-entropy (nats; ``floor`` is its lower bound for any system) and Jensen–Shannon divergence (bits).

    Raises
    ------
    EvaluationError
        Items of the release have no prediction.
    """
    missing = sorted(set(wanted) - set(predicted))
    if missing:
        named = ", ".join(missing[:_MOST_NAMED])
        raise EvaluationError(f"{len(missing):,} items of the release have no prediction: {named}")
    rows = [(shares, predicted[item]) for item, shares in sorted(wanted.items())]
    values = {
        "cross_entropy": [_cross_entropy(shares, said) for shares, said in rows],
        "jensen_shannon": [_jensen_shannon(shares, said) for shares, said in rows],
    }
    return {
        "items": len(rows),
        "labels": list(labels),
        "beyond": len(set(predicted) - set(wanted)),
        "metrics": means(values),
        "floor": sum(_cross_entropy(shares, shares) for shares, _said in rows) / len(rows),
        "intervals": mean_intervals(values, resamples=resamples, seed=seed),
    }


def _cross_entropy(wanted: Shares, said: Shares) -> float:
    return -sum(share * math.log(max(guess, _LEAST)) for share, guess in zip(wanted, said, strict=True) if share)


def _jensen_shannon(wanted: Shares, said: Shares) -> float:
    middle = tuple((share + guess) / 2 for share, guess in zip(wanted, said, strict=True))
    return max(0.0, (_relative(wanted, middle) + _relative(said, middle)) / 2)


def _relative(shares: Shares, others: Shares) -> float:
    return sum(share * math.log2(share / other) for share, other in zip(shares, others, strict=True) if share)
