"""Late drift: an annotator who did well for long but no longer does, detected by a CUSUM over gold checks.

After many hits, the sequential test of `measures.gold_tests` reacts slowly. A CUSUM ignores good work long ago: its
score never falls below 0. It gives false alarms at a stated rate, so it only asks a manager to look.

E. S. Page (1954). Continuous inspection schemes. Biometrika 41(1/2).
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from measures.gold_tests import GoldTest

NEGLIGIBLE = 1e-14  # a path of checks, beside the probability that a run of them ends at the limit
MOST_LIMIT = 40.0


def score(hits: Iterable[bool], test: GoldTest) -> float:
    """Return the score after some checks: 0 is the best value.

    Examples
    --------
    >>> round(score([True] * 300 + [False] * 3, GoldTest()), 2)
    4.16
    """
    found = 0.0
    for hit in hits:
        found = max(0.0, found + (test.hit if hit else test.miss))
    return found


def run_length(test: GoldTest, limit: float, hit_rate: float) -> float:
    """Return the average number of checks until an annotator with this hit rate reaches the limit, from a score of 0.

    Whenever the score returns to 0, a new run starts. The result is the mean number of checks in a run, divided by the
    probability that a run ends at the limit. Exact, except that runs with a probability below 1e-14 are ignored.

    Examples
    --------
    >>> round(run_length(GoldTest(), 3.0, 0.25), 3)  # three misses, or more of them after hits
    4.069
    """
    standing = {(0, 0): 1.0}  # by hits and misses since the score was 0
    checks = ends = 0.0
    while standing:
        after: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (hits, misses), probability in standing.items():
            checks += probability
            for more, share in (((hits + 1, misses), hit_rate), ((hits, misses + 1), 1 - hit_rate)):
                reached = more[0] * test.hit + more[1] * test.miss
                if reached >= limit:
                    ends += probability * share
                elif reached > 0 and probability * share > NEGLIGIBLE:
                    after[more] += probability * share
        standing = after
    return checks / ends


@lru_cache(maxsize=64)
def limit_for(test: GoldTest, length: int) -> float:
    """Return the limit at which a good annotator causes a false alarm after ``checks`` checks on average.

    Examples
    --------
    >>> test = GoldTest()
    >>> 900 < run_length(test, limit_for(test, 1_000), test.good) < 1_100
    True
    """
    low, high = 0.1, MOST_LIMIT
    for _ in range(24):
        middle = (low + high) / 2
        if run_length(test, middle, test.good) < length:
            low = middle
        else:
            high = middle
    return high
