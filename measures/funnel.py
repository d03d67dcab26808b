"""A funnel plot: annotators whose results are worse than chance explains, given their number of checks.

D. J. Spiegelhalter (2005). Funnel plots for comparing institutional performance. Statistics in Medicine 24(8), 1185-1202.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from measures.judgments import Floats

Key = TypeVar("Key")
USUAL, RARE = 0.975, 0.999  # of the people who do as everybody does, at most 1 in 40 and 1 in 1,000 lie above


@lru_cache(maxsize=32)
def limits(share: float, most: int, level: float) -> Floats:
    """Return the share that at least ``level`` of the people don't exceed, by the number of checks (1 to ``most``).

    Exact binomial limits: misses are integers, so the limit is slightly jagged. Shape: (most,).

    Parameters
    ----------
    share
        The share of checks that all people together miss, between 0 and 1.

    Examples
    --------
    >>> [round(float(value), 2) for value in limits(0.1, 100, USUAL)[[9, 99]]]
    [0.3, 0.16]
    """
    from scipy.stats import binom  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

    checks = np.arange(1, most + 1)
    found: Floats = binom.ppf(level, checks, share) / checks
    return found


def outside(people: Iterable[tuple[Key, int, int]]) -> list[Key]:
    """Return people with more misses than 1 in 1,000 people at the common miss rate would have, worst first.

    Parameters
    ----------
    people
        (who, checks, misses), each with at least one check.

    Examples
    --------
    >>> outside([("ann", 40, 3), ("bo", 40, 2), ("cy", 40, 22), ("di", 400, 30)])
    ['cy']
    """
    rows = list(people)
    if not rows:
        return []
    together = sum(misses for _who, _checks, misses in rows) / sum(checks for _who, checks, _misses in rows)
    bound = limits(together, max(checks for _who, checks, _misses in rows), RARE)
    found = [(misses / checks, who) for who, checks, misses in rows if misses / checks > bound[checks - 1]]
    return [who for _share, who in sorted(found, key=lambda pair: -pair[0])]
