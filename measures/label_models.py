"""The model of Dawid and Skene (1979): true labels and the confusion of each annotator, by EM.

Each annotator's own judgments are joined by a few of an average annotator, unless ``shrinkage`` is 0. The model gives
labels beside those of the vote and a signal for the work queue, and never silently replaces the vote. It is best or near
best on most public crowds, and loses to the vote on some (few items per annotator, skewed workloads): see
`measures.comparison`. If most annotators share an error, model and vote are wrong together, and nothing here shows it.

MACE and GLAD are left out: the result of MACE depends on its starting point (.71 or .93 on one crowd), and GLAD takes
minutes where this model takes tenths of a second, without being better.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from measures.judgments import Floats, Judgments, Places

SHRINKAGE = 4.0  # judgments of an average annotator, added to each annotator's own


@dataclass(frozen=True)
class DawidSkene:
    """A fitted model.

    Attributes
    ----------
    posterior
        Shape (items, labels): the probability of each label; rows sum to 1.
    confusion
        Shape (annotators, labels, labels): the probability that an annotator gives the column's label if the row's is
        true.
    prior
        Shape (labels,): the frequency of each label.
    rounds
        The number of EM iterations.
    log_likelihood
        The log-likelihood of the judgments under the model.
    converged
        Whether the last iteration changed the log-likelihood by less than the tolerance; if not, the iteration limit
        was reached.
    """

    posterior: Floats
    confusion: Floats
    prior: Floats
    rounds: int
    log_likelihood: float
    converged: bool

    def best(self, judgments: Judgments) -> dict[Any, Any]:
        """Return the most probable label of each item; in a tie, the first one."""
        chosen = self.posterior.argmax(axis=1)
        return {item: judgments.labels[place] for item, place in zip(judgments.items, chosen, strict=True)}

    def accuracy(self) -> Floats:
        """Return the probability that each annotator is right about an item of this kind, shape (annotators,)."""
        right: Floats = np.einsum("wkk,k->w", self.confusion, self.prior)
        return right


def dawid_skene(
    judgments: Judgments,
    *,
    smoothing: float = 0.01,
    shrinkage: float = SHRINKAGE,
    tolerance: float = 1e-6,
    most_rounds: int = 500,
) -> DawidSkene:
    """Fit the model.

    Parameters
    ----------
    smoothing
        A constant added to each cell of a confusion matrix, so that no annotator is ever certain.
    shrinkage
        The number of judgments by an average annotator that are added to each annotator's own, per true label:
        annotators with few labels are treated as nearly average. The posterior is then less certain and better
        calibrated. With three judgments an annotator, the model of 1979 (0) mistakes chance for skill.
    tolerance
        EM stops when an iteration changes the log-likelihood by less than this fraction.

    Raises
    ------
    ValueError
        There are no judgments, or too many labels (`TooManyLabels`).

    Notes
    -----
    EM starts from each item's vote shares. The cost is iterations × labels × judgments: the sums run over existing
    judgments, not over all pairs of items and annotators.

    References
    ----------
    A. P. Dawid and A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM
    algorithm. Applied Statistics 28(1).

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> rows = [(n, who, "yes" if n % 2 else "no") for n in range(20) for who in ("ann", "bo")]
    >>> crowd = judgments_of(rows + [(n, "no-sayer", "no") for n in range(20)])
    >>> model = dawid_skene(crowd)
    >>> model.accuracy().round(2).tolist()
    [0.95, 0.95, 0.59]
    >>> model.best(crowd)[1]
    'yes'
    """
    judgments.check_size()
    if not len(judgments):
        raise ValueError("there are no judgments")
    shape = (len(judgments.items), len(judgments.annotators), len(judgments.labels))
    said = judgments.annotator * shape[2] + judgments.label  # by whom and what
    # Judgments of an item stand together, and an item without any has no share.
    order = np.argsort(judgments.item, kind="stable")
    item, said = judgments.item[order], said[order]
    posterior = judgments.counts()
    posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1)
    posterior[posterior.sum(axis=1) == 0] = 1 / shape[2]
    before, after, rounds = -np.inf, -np.inf, 0
    while rounds < most_rounds and (rounds < 2 or abs(after - before) > tolerance * abs(after)):
        rounds, before = rounds + 1, after
        prior = posterior.mean(axis=0)
        confusion = _confusion(posterior, item, said, shape, smoothing, shrinkage)
        posterior, after = _expected(prior, confusion, item, said, shape)
    has_converged = abs(after - before) <= tolerance * abs(after)
    return DawidSkene(posterior, confusion.transpose(1, 0, 2), prior, rounds, after, has_converged)


def _confusion(
    posterior: Floats, item: Places, said: Places, shape: tuple[int, int, int], smoothing: float, shrinkage: float
) -> Floats:
    """Return the probability of each annotator's answers given each true label, shape (labels, annotators, labels)."""
    _, annotators, labels = shape
    found = np.empty((labels, annotators, labels))
    for true in range(labels):
        weights = np.ascontiguousarray(posterior[:, true])[item]
        found[true] = np.bincount(said, weights=weights, minlength=annotators * labels).reshape(annotators, labels)
    found += smoothing
    if shrinkage:
        pooled = found.sum(axis=1, keepdims=True)
        found += shrinkage * pooled / pooled.sum(axis=2, keepdims=True)
    found /= found.sum(axis=2, keepdims=True)
    return found


def _expected(
    prior: Floats, confusion: Floats, item: Places, said: Places, shape: tuple[int, int, int]
) -> tuple[Floats, float]:
    """Return the posterior of each item and the log-likelihood of all judgments, computed in logarithms."""
    items, _, labels = shape
    scores = np.empty((items, labels))
    with np.errstate(divide="ignore"):  # a label that no item has any more keeps probability 0
        logs, start = np.log(confusion).reshape(labels, -1), np.log(prior)
    for true in range(labels):
        scores[:, true] = np.bincount(item, weights=logs[true][said], minlength=items) + start[true]
    most = scores.max(axis=1, keepdims=True)
    posterior: Floats = np.exp(scores - most)
    sums = posterior.sum(axis=1, keepdims=True)
    posterior /= sums
    return posterior, float((np.log(sums) + most).sum())
