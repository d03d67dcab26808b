"""Late drift: somebody who did well for long and no longer does, found by a CUSUM over gold checks.

The sequential test of `quality.rules.gold` has forgiven so much by then that it is slow. A CUSUM forgets what was good: its
score never falls below 0. It gives false alarms at a stated rate, so that all it does is to ask a manager to look.

E. S. Page (1954). Continuous inspection schemes. Biometrika 41(1/2). Run lengths by a Markov chain over a grid of scores: D.
Brook and D. A. Evans (1972). An approach to the probability distribution of CUSUM run length. Biometrika 59(3).
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from quality.rules.gold import GoldTest

GRID = 400  # steps between 0 and the limit
MOST_LIMIT = 40.0


def score(hits: Iterable[bool], test: GoldTest) -> float:
    """Return the score after some checks: 0 is as good as can be.

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
    """Return after how many checks, on average, somebody with this hit rate reaches the limit, from a score of 0.

    Accurate to about 1 % (a grid of 400 scores).
    """
    step = limit / GRID
    states = np.arange(GRID) * step
    moves = np.zeros((GRID, GRID))
    for change, share in ((test.hit, hit_rate), (test.miss, 1 - hit_rate)):
        reached = np.maximum(0, np.rint((states + change) / step)).astype(int)
        stays = reached < GRID
        np.add.at(moves, (np.arange(GRID)[stays], reached[stays]), share)
    return float(np.linalg.solve(np.eye(GRID) - moves, np.ones(GRID))[0])


@lru_cache(maxsize=64)
def limit_for(test: GoldTest, length: int) -> float:
    """Return the limit that a good annotator reaches after so many checks on average: a false alarm.

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
