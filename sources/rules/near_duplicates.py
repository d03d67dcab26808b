"""Near duplicates among texts: an exact join of sets of terms, and the resulting groups.

ANTIQUE dropped questions with "90% term overlap" (Hashemi et al. 2020, section 3.1) without defining the share. The
share of the longer text is the default; the others are known as Jaccard (of all terms), Dice (of the mean length) and
containment (of the shorter text). The join filters by prefix and length (Chaudhuri et al. 2006; Bayardo et al. 2007,
"Scaling up all pairs similarity search"): it finds every pair, and compares few pairs that aren't near duplicates.
"""

import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

Terms = frozenset[str]


class Denominator(StrEnum):
    """The denominator of the share of common terms."""

    LONGER = "longer"
    ALL = "all"
    MEAN = "mean"
    SHORTER = "shorter"


class Overlap(NamedTuple):
    """The share of common terms from which two texts are near duplicates."""

    threshold: Fraction = Fraction(9, 10)
    of: Denominator = Denominator.LONGER
    strictly_above: bool = True

    def least_common(self, one: int, other: int) -> int:
        """Return the minimum number of common terms for texts of these sizes to be near duplicates."""
        share = self.threshold
        needed = {
            Denominator.LONGER: share * max(one, other),
            Denominator.SHORTER: share * min(one, other),
            Denominator.MEAN: share * (one + other) / 2,
            Denominator.ALL: share * (one + other) / (1 + share),
        }[self.of]
        return max(1, math.floor(needed) + 1 if self.strictly_above else math.ceil(needed))

    def share(self, one: Terms, other: Terms) -> Fraction:
        """Return the share of common terms."""
        common = len(one & other)
        whole = {
            Denominator.LONGER: Fraction(max(len(one), len(other))),
            Denominator.SHORTER: Fraction(min(len(one), len(other))),
            Denominator.MEAN: Fraction(len(one) + len(other), 2),
            Denominator.ALL: Fraction(len(one | other)),
        }[self.of]
        return common / whole if whole else Fraction(0)


def near_pairs(sets: Sequence[Terms], overlap: Overlap) -> Iterator[tuple[int, int]]:
    """Yield every pair of indices whose sets are near duplicates; the index of the smaller set comes first.

    An empty set matches no other set. Equal sets are found like all others, so many equal sets give many pairs.
    """
    frequency = Counter(term for terms in sets for term in terms)
    rank = {term: place for place, (term, _) in enumerate(sorted(frequency.items(), key=lambda one: (one[1], one[0])))}
    least_common = cache(overlap.least_common)
    smallest_partner = cache(partial(_smallest_partner, overlap))
    order = sorted((place for place, terms in enumerate(sets) if terms), key=lambda place: len(sets[place]))
    seen: dict[str, list[int]] = defaultdict(
        list
    )  # by term: places of sets that have it in their prefix, smaller first
    for place in order:
        terms = sets[place]
        size = len(terms)
        ordered = sorted(terms, key=rank.__getitem__)
        smallest = smallest_partner(size)
        candidates: set[int] = set()
        for term in ordered[: size - least_common(smallest, size) + 1]:
            candidates.update(other for other in seen[term] if len(sets[other]) >= smallest)
        for other in candidates:
            if len(sets[other] & terms) >= least_common(len(sets[other]), size):
                yield other, place
        for term in ordered[: size - least_common(size, size) + 1]:
            seen[term].append(place)


def _smallest_partner(overlap: Overlap, size: int) -> int:
    """Return the smallest size of a set that can be a near duplicate of a set with ``size`` terms or more."""
    return 1 + bisect_left(range(1, size), True, key=lambda least: overlap.least_common(least, size) <= least)


def groups_of(texts: Mapping[str, Terms], overlap: Overlap) -> list[list[str]]:
    """Return the groups of ids with near-duplicate texts, each of at least two; links can be indirect.

    The groups are in the order of the ids.
    """
    by_terms: dict[Terms, list[str]] = defaultdict(list)
    for key, terms in texts.items():
        if terms:
            by_terms[terms].append(key)
    sets = list(by_terms)
    parent = list(range(len(sets)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    for one, other in near_pairs(sets, overlap):
        parent[root(one)] = root(other)
    groups: dict[int, list[str]] = defaultdict(list)
    for place, terms in enumerate(sets):
        groups[root(place)] += by_terms[terms]
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


class Dropped(NamedTuple):
    """A text that was dropped for another one, and the share of terms that they have in common.

    In a group with indirect links, the share can lie below the threshold.
    """

    text: str
    kept: str
    share: Fraction


def near_duplicates(
    texts: Mapping[str, Terms], overlap: Overlap, choose: Callable[[Collection[str]], str]
) -> Iterator[Dropped]:
    """Yield the dropped texts; the chosen text of each group is kept."""
    for group in groups_of(texts, overlap):
        kept = choose(group)
        for text in group:
            if text != kept:
                yield Dropped(text, kept, overlap.share(texts[text], texts[kept]))
