"""The model of Dawid and Skene (1979): true labels and the confusion of each worker, by EM.

A second column beside the vote and a signal for the work queue, never a silent replacement of it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class DawidSkene:
    """A fitted model.

    Attributes
    ----------
    items, workers, labels
        What the axes stand for, in order of first appearance.
    posterior
        Shape (items, labels): the probability of each label; rows sum to 1.
    confusion
        Shape (workers, labels, labels): the probability that a worker says column where row is true.
    prior
        Shape (labels,): how frequent the labels are.
    rounds
        EM rounds until nothing moved by more than the tolerance, or the limit.
    """

    items: tuple[Any, ...]
    workers: tuple[Any, ...]
    labels: tuple[Any, ...]
    posterior: Floats
    confusion: Floats
    prior: Floats
    rounds: int

    def best(self) -> dict[Any, Any]:
        """Return the most probable label of each item."""
        return {item: self.labels[index] for item, index in zip(self.items, self.posterior.argmax(axis=1), strict=True)}


def dawid_skene(
    rows: Sequence[tuple[Hashable, Hashable, Hashable]],
    *,
    smoothing: float = 0.01,
    tolerance: float = 1e-5,
    most_rounds: int = 200,
) -> DawidSkene:
    """Fit the model.

    Parameters
    ----------
    rows
        (item, worker, label), one for each judgment.
    smoothing
        Added to each cell of a confusion matrix, so that no worker is ever certain.
    tolerance
        EM stops when no posterior changes by more.

    Raises
    ------
    ValueError
        There are no rows, or a worker judged an item twice.

    Notes
    -----
    Starts from the share of votes. Cost: rounds × judgments × labels.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM
    algorithm. Applied Statistics 28(1).
    """
    if not rows:
        raise ValueError("there are no judgments")
    (items, item), (workers, worker), (labels, label) = (_encoded(column) for column in zip(*rows, strict=True))
    if len(np.unique(item * len(workers) + worker)) != len(rows):
        raise ValueError("a worker judged an item twice; keep one judgment of each pair")
    posterior = np.zeros((len(items), len(labels)))
    np.add.at(posterior, (item, label), 1.0)
    posterior /= posterior.sum(axis=1, keepdims=True)
    rounds, moved = 0, np.inf
    while rounds < most_rounds and moved >= tolerance:
        rounds += 1
        prior = posterior.mean(axis=0)
        confusion = np.full((len(workers), len(labels), len(labels)), smoothing)
        _count_into(confusion, posterior, item, worker, label)
        after = _expected(prior, confusion, item, worker, label)
        moved = float(np.abs(after - posterior).max())
        posterior = after
    return DawidSkene(items, workers, labels, posterior, confusion, prior, rounds)


def _encoded(column: tuple[Hashable, ...]) -> tuple[tuple[Hashable, ...], Places]:
    """Return the distinct values in order of appearance, and the place of each row's value among them."""
    values = tuple(dict.fromkeys(column))
    places = {value: place for place, value in enumerate(values)}
    return values, np.fromiter((places[value] for value in column), dtype=np.int64, count=len(column))


def _count_into(confusion: Floats, posterior: Floats, item: Places, worker: Places, label: Places) -> None:
    """Add what each worker said of each probable truth, and make the rows probabilities."""
    np.add.at(confusion.transpose(0, 2, 1), (worker, label), posterior[item])
    confusion /= confusion.sum(axis=2, keepdims=True)


def _expected(prior: Floats, confusion: Floats, item: Places, worker: Places, label: Places) -> Floats:
    """Return the posterior of each item, computed in logarithms."""
    with np.errstate(divide="ignore"):  # a label that no item has any more keeps probability 0
        scores = np.tile(np.log(prior), (int(item.max()) + 1, 1))
    np.add.at(scores, item, np.log(confusion)[worker, :, label])
    posterior: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior
