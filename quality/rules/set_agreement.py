"""Agreement on sets: spans of a page, or boxes, where two answers can overlap without being equal."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from quality.rules.agreement import TOO_FEW

Set = frozenset[Hashable]
Distance = Callable[[Set, Set], float]
MOST_PAIRS = 200_000  # of different values, before the expected distance is estimated from as many drawn ones


def jaccard_distance(first: Set, second: Set) -> float:
    """Return the share of the elements of two sets that are not in both; two empty sets are the same."""
    union = len(first | second)
    return 1 - len(first & second) / union if union else 0.0


def masi_distance(first: Set, second: Set) -> float:
    """Return Passonneau's distance: Jaccard's, and less agreement for sets of which neither holds the other.

    References
    ----------
    R. Passonneau (2006). Measuring Agreement on Set-valued Items (MASI) for Semantic and Pragmatic Annotation. LREC.

    Examples
    --------
    >>> round(masi_distance(frozenset({1, 2}), frozenset({1})), 3)
    0.667
    """
    common = first & second
    if first == second:
        monotony = 1.0
    elif common in (first, second):
        monotony = 2 / 3
    else:
        monotony = 1 / 3 if common else 0.0
    return 1 - (1 - jaccard_distance(first, second)) * monotony


@dataclass(frozen=True, slots=True)
class SetAgreement:
    """Alpha over sets, and the distances that it comes from; None where it is undefined, and ``why`` says so.

    Answers about different pages have nothing in common, so that the expected distance is nearly 1, and alpha little
    else than 1 less the observed one: report both.
    """

    alpha: float | None
    observed: float | None
    expected: float | None
    units: int
    values: int
    why: str = ""


def set_alpha(units: Sequence[Sequence[Set]], distance: Distance = masi_distance, *, seed: int = 0) -> SetAgreement:
    """Return Krippendorff's alpha with a distance between sets.

    Parameters
    ----------
    units
        For each item, the set that each annotator answered.
    seed
        Of the pairs that are drawn where there are more than `MOST_PAIRS`.

    Examples
    --------
    >>> one, two = frozenset({1}), frozenset({2})
    >>> set_alpha([[one, one], [two, two]]).alpha
    1.0
    """
    paired = [values for values in units if len(values) >= 2]
    pooled = [value for values in paired for value in values]
    if len(paired) < 2:
        return SetAgreement(None, None, None, len(paired), len(pooled), TOO_FEW[len(paired)])
    observed = sum(_disagreement(values, distance) for values in paired) / len(pooled)
    expected = _expected(pooled, distance, seed)
    if expected == 0:
        return SetAgreement(None, observed, expected, len(paired), len(pooled), "all answers are the same")
    return SetAgreement(1 - observed / expected, observed, expected, len(paired), len(pooled))


def _disagreement(values: Sequence[Set], distance: Distance) -> float:
    """Return the sum of the distances of all ordered pairs of an item, for each of its other answers."""
    return 2 * sum(distance(*pair) for pair in combinations(values, 2)) / (len(values) - 1)


def _expected(pooled: Sequence[Set], distance: Distance, seed: int) -> float:
    """Return the mean distance of two answers, whatever they are about."""
    kinds, times = _counted(pooled)
    total = len(pooled) * (len(pooled) - 1)
    if len(kinds) * (len(kinds) - 1) // 2 <= MOST_PAIRS:
        apart = ((distance(kinds[a], kinds[b]) * times[a] * times[b]) for a, b in combinations(range(len(kinds)), 2))
        return 2 * sum(apart) / total
    drawn = np.random.default_rng(seed).integers(0, len(pooled), (MOST_PAIRS, 2))
    different = drawn[drawn[:, 0] != drawn[:, 1]]
    return float(np.mean([distance(pooled[a], pooled[b]) for a, b in different]))


def _counted(values: Sequence[Set]) -> tuple[list[Set], list[int]]:
    counts: dict[Set, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return list(counts), list(counts.values())
