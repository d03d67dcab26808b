"""Agreement coefficients other than Krippendorff's alpha, which readers of a paper may expect."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from measures.judgments import Floats


class Weights(StrEnum):
    """The degree of agreement between two different labels."""

    IDENTITY = "identity"  # none
    LINEAR = "linear"  # less with each step between them
    QUADRATIC = "quadratic"  # less with the square of the steps


def agreement_weights(labels: int, weights: Weights) -> Floats:
    """Return the weight of each pair of labels, shape (labels, labels): 1 if equal, 0 for the two extremes."""
    if weights is Weights.IDENTITY or labels < 2:
        return np.eye(labels)
    steps = np.abs(np.subtract.outer(np.arange(labels), np.arange(labels))) / (labels - 1)
    return 1 - (steps if weights is Weights.LINEAR else steps**2)


def percent_agreement(counts: Floats) -> float | None:
    """Return the share of pairs of judgments of an item that are equal, averaged over items; None without pairs.

    Parameters
    ----------
    counts
        Shape (items, labels): how often each item was given each label.

    Examples
    --------
    >>> percent_agreement(np.array([[2.0, 0], [1, 1], [0, 2], [0, 2]]))
    0.75
    """
    return _observed(counts, np.eye(counts.shape[1]))


def fleiss_kappa(counts: Floats) -> float | None:
    """Return Fleiss' kappa over the items with at least two judgments; None if it is undefined.

    If all items have the same number of judgments, this is the published coefficient; otherwise Gwet's extension, in
    which each item's shares of labels have equal weight.

    References
    ----------
    J. L. Fleiss (1971). Measuring nominal scale agreement among many raters. Psychological Bulletin 76(5).

    Examples
    --------
    >>> round(fleiss_kappa(np.array([[3.0, 0], [2, 1], [0, 3]])), 3)
    0.55
    """
    observed = percent_agreement(counts)
    return None if observed is None else _over_chance(observed, float((_shares(counts) ** 2).sum()))


def gwet_ac(counts: Floats, weights: Weights = Weights.IDENTITY) -> float | None:
    """Return Gwet's AC1, or AC2 with weights; None if it is undefined.

    Unlike kappa and alpha, it stays high if nearly all labels are the same and annotators agree on them.

    References
    ----------
    K. L. Gwet (2014). Handbook of Inter-Rater Reliability, 4th edition, chapters 4 and 5.

    Examples
    --------
    >>> counts = np.array([[2.0, 0], [2, 0], [2, 0], [1, 1]])
    >>> round(float(gwet_ac(counts)), 2), round(fleiss_kappa(counts), 2)
    (0.68, -0.14)
    """
    weight = agreement_weights(counts.shape[1], weights)
    observed = _observed(counts, weight)
    if observed is None or counts.shape[1] < 2:
        return None
    shares, labels = _shares(counts), counts.shape[1]
    chance = weight.sum() / (labels * (labels - 1)) * float((shares * (1 - shares)).sum())
    return _over_chance(observed, chance)


def cohen_kappa(
    first: Sequence[Any], second: Sequence[Any], labels: Sequence[Any], weights: Weights = Weights.IDENTITY
) -> float | None:
    """Return Cohen's kappa of two lists of labels for the same items: an annotator against an expert, or against gold.

    Parameters
    ----------
    labels
        All labels in their order.

    References
    ----------
    J. Cohen (1968). Weighted kappa: Nominal scale agreement with provision for scaled disagreement or partial credit.
    Psychological Bulletin 70(4).

    Examples
    --------
    >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1], [1, 2])
    0.5
    """
    if not len(first):
        return None
    places = {label: place for place, label in enumerate(labels)}
    table = np.zeros((len(places), len(places)))
    np.add.at(table, ([places[label] for label in first], [places[label] for label in second]), 1 / len(first))
    weight = agreement_weights(len(places), weights)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    return _over_chance(float((weight * table).sum()), float((weight * chance).sum()))


def _shares(counts: Floats) -> Floats:
    """Return the frequency of each label, averaged over items."""
    judged = counts[counts.sum(axis=1) >= 1]
    shares: Floats = (judged / judged.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def _observed(counts: Floats, weight: Floats) -> float | None:
    """Return the mean weighted agreement over pairs of judgments of an item."""
    paired = counts[counts.sum(axis=1) >= 2]
    if not len(paired):
        return None
    sizes = paired.sum(axis=1)
    agreeing = (paired * (paired @ weight - 1)).sum(axis=1)
    return float((agreeing / (sizes * (sizes - 1))).mean())


def _over_chance(observed: float, chance: float) -> float | None:
    return None if np.isclose(chance, 1) else (observed - chance) / (1 - chance)
