"""Decide from gold checks whether an annotator's work can be relied on, with an error budget for a lifetime.

A gold check is a hit or a miss. Wald's sequential test weighs a good annotator (hit rate ``good``) against a
careless one (``bad``). A good annotator is tested again and again for as long as they work, so each test
that ends well is followed by a stricter one: the k-th spends 1/2^k of the budget, and all together spend
no more than it. What the rules then do (warn, pause, suspend) is for others to decide.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import log


class Finding(Enum):
    """What the checks of a person say so far."""

    OPEN = "open"
    WARN = "warn"
    FAILED = "failed"


@dataclass(frozen=True)
class Assessment:
    """Where a person stands.

    Attributes
    ----------
    finding
        FAILED is final: the checks after it are not looked at.
    score
        The log-likelihood ratio of careless against good in the current test.
    limit
        The score at which the current test fails.
    checks
        How many checks were looked at.
    passed
        How many tests ended well.
    """

    finding: Finding
    score: float
    limit: float
    checks: int
    passed: int


@dataclass(frozen=True)
class GoldTest:
    """The sequential test.

    Parameters
    ----------
    good, bad
        Hit rates told apart, ``0 < bad < good < 1``.
    budget
        The most that may be the probability that a good annotator ever fails.
    power
        The probability that a careless annotator fails the first test.
    warn_at
        The share of the limit at which there is a warning.

    References
    ----------
    A. Wald (1945). Sequential tests of statistical hypotheses. Annals of Mathematical Statistics 16(2).
    """

    good: float = 0.90
    bad: float = 0.60
    budget: float = 0.05
    power: float = 0.90
    warn_at: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.bad < self.good < 1:
            raise ValueError("the hit rates must be 0 < bad < good < 1")
        if not (0 < self.budget < self.power < 1 and 0 < self.warn_at <= 1):
            raise ValueError("the budget must be 0 < budget < power < 1, and 0 < warn_at <= 1")

    @cached_property
    def hit(self) -> float:
        """Return what a hit adds to the score: less than 0."""
        return log(self.bad / self.good)

    @cached_property
    def miss(self) -> float:
        """Return what a miss adds to the score: more than 0."""
        return log((1 - self.bad) / (1 - self.good))

    @cached_property
    def floor(self) -> float:
        """Return the score at which a test ends well."""
        return log((1 - self.power) / (1 - self.budget))

    def limit(self, passed: int) -> float:
        """Return the score at which the test after ``passed`` ones fails.

        The inverse of its share of the budget: by Ville's inequality a good annotator reaches it with at
        most that probability, however long the test goes on.
        """
        return log(2 ** (passed + 1) / self.budget)

    def assess(self, hits: Iterable[bool]) -> Assessment:
        """Return where a person stands after their checks, in the order they were taken."""
        score, passed, checks = 0.0, 0, 0
        for hit in hits:
            checks += 1
            score += self.hit if hit else self.miss
            if score >= self.limit(passed):
                return Assessment(Finding.FAILED, score, self.limit(passed), checks, passed)
            if score <= self.floor:
                score, passed = 0.0, passed + 1
        limit = self.limit(passed)
        finding = Finding.WARN if score >= self.warn_at * limit else Finding.OPEN
        return Assessment(finding, score, limit, checks, passed)

    def failure_rate(self, hit_rate: float, checks: int) -> float:
        """Return the exact probability that an annotator with this hit rate has failed after so many checks."""
        hit, miss, floor = self.hit, self.miss, self.floor
        # (tests passed, hits, misses) of the current test: its probability
        standing: dict[tuple[int, int, int], float] = {(0, 0, 0): 1.0}
        failed = 0.0
        for _check in range(checks):
            after: defaultdict[tuple[int, int, int], float] = defaultdict(float)
            for (passed, hits, misses), probability in standing.items():
                limit = self.limit(passed)
                for more, share in (((hits + 1, misses), hit_rate), ((hits, misses + 1), 1 - hit_rate)):
                    score = more[0] * hit + more[1] * miss
                    if score >= limit:
                        failed += probability * share
                    elif score <= floor:
                        after[passed + 1, 0, 0] += probability * share
                    else:
                        after[passed, *more] += probability * share
            standing = after
        return failed
