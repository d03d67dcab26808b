"""Agreement on sets: spans of a page, or boxes. Two answers can overlap without being equal."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from measures.agreement import TOO_FEW

Set = frozenset[Hashable]
Distance = Callable[[Set, Set], float]


def jaccard_distance(first: Set, second: Set) -> float:
    """Return the share of the elements of two sets that are in only one of them; two empty sets have distance 0.

    Examples
    --------
    >>> jaccard_distance(frozenset({1, 2}), frozenset({2}))
    0.5
    """
    union = len(first | second)
    return 1 - len(first & second) / union if union else 0.0


def masi_distance(first: Set, second: Set) -> float:
    """Return Passonneau's distance: Jaccard's, increased for two sets that don't contain one another.

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
    """Alpha over sets, and its distances; ``alpha`` is None if it is undefined, and ``why`` gives the reason.

    Answers about different pages have no common elements. The expected distance is therefore nearly 1, and alpha is
    close to 1 minus the observed distance: report both.
    """

    alpha: float | None
    observed: float | None
    expected: float | None
    units: int
    values: int
    why: str = ""


class PagesAgreement:
    """Krippendorff's alpha over sets of words or boxes of pages, computed item by item.

    Sets of different items have no common elements, so their distance is 1, or 0 if both are empty. The expected
    distance thus follows from counts, and items needn't be stored.

    Examples
    --------
    >>> found = PagesAgreement()
    >>> found.add([frozenset({1}), frozenset({1})])
    >>> found.add([frozenset({2}), frozenset({2})])
    >>> found.result().alpha
    1.0
    """

    def __init__(self, distance: Distance = masi_distance) -> None:
        self._distance = distance
        self._units = self._values = self._empty = 0
        self._pairs = self._empty_pairs = 0  # of two answers to one item
        self._apart = self._disagreement = 0.0

    def add(self, values: Sequence[Set]) -> None:
        """Add the answers to one item; an item with a single answer doesn't affect agreement."""
        if len(values) < 2:
            return
        apart = sum(self._distance(*pair) for pair in combinations(values, 2))
        empty = sum(not value for value in values)
        self._units += 1
        self._values += len(values)
        self._empty += empty
        self._pairs += comb(len(values), 2)
        self._empty_pairs += comb(empty, 2)
        self._apart += apart
        self._disagreement += 2 * apart / (len(values) - 1)

    def result(self) -> SetAgreement:
        """Return alpha over the items so far."""
        if self._units < 2:
            return SetAgreement(None, None, None, self._units, self._values, TOO_FEW[self._units])
        observed, pairs = self._disagreement / self._values, comb(self._values, 2)
        alike = comb(self._empty, 2) - self._empty_pairs  # of two items, and both empty
        expected = (self._apart + pairs - self._pairs - alike) / pairs
        if expected == 0:
            return SetAgreement(None, observed, expected, self._units, self._values, "all answers are the same")
        return SetAgreement(1 - observed / expected, observed, expected, self._units, self._values)
