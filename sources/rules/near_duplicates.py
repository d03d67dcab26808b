"""Texts that say nearly the same: an exact join of sets of terms, and the groups that it makes.

ANTIQUE dropped questions with "90% term overlap" (Hashemi et al. 2020, section 3.1) and does not say of what. The share of
the longer text is the default; the others are known as Jaccard (of all terms), Dice (of the mean length) and containment
(of the shorter text). The join filters by prefix and length (Chaudhuri et al. 2006; Bayardo et al. 2007, "Scaling up all
pairs similarity search"): it finds every pair, and compares few of those that are none.
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
    """What the number of common terms is a share of."""

    LONGER = "longer"
    ALL = "all"
    MEAN = "mean"
    SHORTER = "shorter"


class Overlap(NamedTuple):
    """From which share of common terms on two texts are near duplicates."""

    threshold: Fraction = Fraction(9, 10)
    of: Denominator = Denominator.LONGER
    strictly_above: bool = True

    def least_common(self, one: int, other: int) -> int:
        """Return how many terms texts with so many terms have in common at least, to be near duplicates."""
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
    """Yield every pair of places whose sets are near duplicates, the place of the smaller set first.

    Sets without terms are like none. Equal sets are found like all others: of many of them there are many pairs.
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
    """Return how many terms a set has at least that can be a near duplicate of one with so many, or more."""
    return 1 + bisect_left(range(1, size), True, key=lambda least: overlap.least_common(least, size) <= least)


def groups_of(texts: Mapping[str, Terms], overlap: Overlap) -> list[list[str]]:
    """Return the groups of ids whose texts are near duplicates, directly or by way of others, each of at least two.

    In the order of the ids.
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

    Of a group that hangs together by way of others, the share can lie below the threshold.
    """

    text: str
    kept: str
    share: Fraction


def near_duplicates(
    texts: Mapping[str, Terms], overlap: Overlap, choose: Callable[[Collection[str]], str]
) -> Iterator[Dropped]:
    """Yield what is dropped, so that one text of each group is left: the one that is chosen."""
    for group in groups_of(texts, overlap):
        kept = choose(group)
        for text in group:
            if text != kept:
                yield Dropped(text, kept, overlap.share(texts[text], texts[kept]))
