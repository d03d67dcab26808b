"""The reliability of each annotator, by three kinds of evidence: known answers, peer agreement, and a model."""

from dataclasses import dataclass

import numpy as np

from measures.judgments import Floats, Judgments, Places

Z_95 = 1.959963984540054  # the normal quantile of a 95% interval


@dataclass(frozen=True, slots=True)
class Rates:
    """A rate for each annotator with a 95% interval; nan without evidence. All have the shape (annotators,)."""

    rate: Floats
    low: Floats
    high: Floats
    of: Places  # how many judgments it rests on


def peer_agreement(judgments: Judgments) -> Rates:
    """Return how often each annotator agrees with the other annotators of the same items.

    Each judgment of an item with other judgments counts with the share of others who gave the same label. Use the
    result only as evidence for human decisions: on hard items, the best annotators disagree with the rest.

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> crowd = judgments_of([("q1", "ann", 1), ("q1", "bo", 1), ("q2", "ann", 1), ("q2", "bo", 2)])
    >>> peer_agreement(crowd).rate.tolist()
    [0.5, 0.5]
    """
    counts = judgments.counts()
    others = counts.sum(axis=1)[judgments.item] - 1
    same = counts[judgments.item, judgments.label] - 1
    has_peers = others > 0
    share = np.divide(same, others, out=np.zeros(len(judgments)), where=has_peers)
    return _rates(judgments.annotator[has_peers], share[has_peers], len(judgments.annotators))


def hit_rate(judgments: Judgments, truth: dict[object, object]) -> Rates:
    """Return how often each annotator gave the known true label, on the items in ``truth``.

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> crowd = judgments_of([("q1", "ann", 1), ("q1", "bo", 1), ("q2", "ann", 1), ("q2", "bo", 2)])
    >>> hit_rate(crowd, {"q2": 1}).rate.tolist()
    [1.0, 0.0]
    """
    is_known = np.array([item in truth for item in judgments.items], dtype=bool)[judgments.item]
    right = np.array([_place(judgments, truth.get(item)) for item in judgments.items], dtype=np.int64)
    hits = (right[judgments.item] == judgments.label)[is_known].astype(float)
    return _rates(judgments.annotator[is_known], hits, len(judgments.annotators))


def _place(judgments: Judgments, label: object) -> int:
    return judgments.labels.index(label) if label in judgments.labels else -1


def _rates(annotator: Places, hits: Floats, people: int) -> Rates:
    of = np.bincount(annotator, minlength=people)
    rate = np.divide(
        np.bincount(annotator, weights=hits, minlength=people), of, out=np.full(people, np.nan), where=of > 0
    )
    low, high = wilson(rate, of)
    return Rates(rate, low, high, of)


def wilson(rate: Floats, of: Places, z: float = Z_95) -> tuple[Floats, Floats]:
    """Return Wilson's interval of each rate; nan without observations.

    References
    ----------
    E. B. Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22(158).

    Examples
    --------
    >>> low, high = wilson(np.array([0.9]), np.array([10]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.596, 0.982)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (rate + z**2 / (2 * of)) / (1 + z**2 / of)
        half = z * np.sqrt(rate * (1 - rate) / of + z**2 / (4 * of**2)) / (1 + z**2 / of)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
