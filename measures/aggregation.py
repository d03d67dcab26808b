"""Votes over many items at once: unweighted, or weighted by the reliability of annotators.

Ties are kept: no function silently picks a winner. For a single item of a campaign see `measures.voting`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.judgments import Floats, Judgments


@dataclass(frozen=True, slots=True)
class Votes:
    """Scores of each label for each item.

    Attributes
    ----------
    scores
        Shape (items, labels): the number or the weight of each label's votes.
    wins
        Shape (items, labels): whether a label has the highest score. In a tie, several do; without votes, none does.
    """

    scores: Floats
    wins: NDArray[np.bool_]

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether each item has several winners, shape (items,)."""
        tied: NDArray[np.bool_] = self.wins.sum(axis=1) > 1
        return tied

    def shares(self) -> Floats:
        """Return each item's scores divided by their sum; zeros for an item without votes."""
        total = self.scores.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(self.scores, total, out=np.zeros_like(self.scores), where=total > 0)
        return shares


def majority(judgments: Judgments) -> Votes:
    """Return the votes, with equal weights.

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> votes = majority(judgments_of([("q1", "ann", 1), ("q1", "bo", 2), ("q2", "ann", 2), ("q2", "bo", 2)]))
    >>> votes.wins.tolist(), votes.tied.tolist()
    ([[True, True], [False, True]], [True, False])
    """
    return _votes(judgments.counts())


def wawa(judgments: Judgments) -> tuple[Votes, Floats]:
    """Return votes weighted by how often each annotator agrees with the majority, and those weights.

    If several labels win, agreement with one of them counts as a fraction. An annotator without judgments has weight 0.

    References
    ----------
    "Worker agreement with aggregate", as in crowd-kit and Appen's trust scores.

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> votes, weights = wawa(judgments_of([("q1", who, 1) for who in ("ann", "bo")] + [("q1", "cy", 2)]))
    >>> weights.tolist(), votes.scores.tolist()
    ([1.0, 1.0, 0.0], [[2.0, 0.0]])
    """
    wins = majority(judgments).wins
    agrees = wins[judgments.item, judgments.label] / wins.sum(axis=1)[judgments.item]
    people = len(judgments.annotators)
    done = np.bincount(judgments.annotator, minlength=people)
    weight = np.bincount(judgments.annotator, weights=agrees, minlength=people) / np.maximum(done, 1)
    shape = (len(judgments.items), len(judgments.labels))
    scores = np.bincount(
        judgments.item * shape[1] + judgments.label, weights=weight[judgments.annotator], minlength=shape[0] * shape[1]
    )
    return _votes(scores.reshape(shape).astype(np.float64)), weight


def _votes(scores: Floats) -> Votes:
    most = scores.max(axis=1, keepdims=True, initial=0)
    return Votes(scores, np.isclose(scores, most) & (scores > 0))


def entropy(shares: Floats) -> Floats:
    """Return the entropy of each row of shares in bits: 0 if one label has the whole share.

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    found: Floats = -(shares * logs).sum(axis=1)
    return np.maximum(found, 0.0)
