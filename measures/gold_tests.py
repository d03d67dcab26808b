"""Decide from gold checks whether an annotator's work is reliable, with a lifetime error budget.

A gold check is a hit or a miss. Wald's sequential test compares the hypotheses of a good annotator (hit rate ``good``)
and a careless one (``bad``). A good annotator is tested again and again for as long as they work, so each test
that is passed is followed by a stricter one: the k-th spends 1/2^k of the budget, and all tests together
never exceed the budget. The actions that follow (warn, pause, suspend) are decided elsewhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import log

import numpy as np

from measures.judgments import Floats

NEGLIGIBLE = 1e-10


class Finding(Enum):
    """The result of a person's checks so far."""

    OPEN = "open"
    WARN = "warn"
    FAILED = "failed"


@dataclass(frozen=True)
class Assessment:
    """The assessment of a person's checks.

    Attributes
    ----------
    finding
        FAILED is final: later checks are ignored.
    score
        The log-likelihood ratio of careless against good in the current test.
    limit
        The score at which the current test fails.
    checks
        The number of checks used.
    passed
        The number of tests passed.
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
        Hit rates to distinguish, ``0 < bad < good < 1``.
    budget
        The maximum probability that a good annotator ever fails.
    power
        The probability that a careless annotator fails the first test.
    warn_at
        The share of the limit at which a warning is given.

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
        """Return the change of the score for a hit: less than 0."""
        return log(self.bad / self.good)

    @cached_property
    def miss(self) -> float:
        """Return the change of the score for a miss: more than 0."""
        return log((1 - self.bad) / (1 - self.good))

    @cached_property
    def floor(self) -> float:
        """Return the score at which a test is passed."""
        return log((1 - self.power) / (1 - self.budget))

    def limit(self, passed: int) -> float:
        """Return the score at which the test after ``passed`` passed tests fails.

        The limit is the inverse of the test's share of the budget: by Ville's inequality, a good annotator reaches the
        limit with at most that probability, however long the test goes on.
        """
        return log(2 ** (passed + 1) / self.budget)

    def assess(self, hits: Iterable[bool], *, spent: int = 0) -> Assessment:
        """Return the assessment of a person's checks, given in the order taken.

        ``spent`` is the number of tests that already used budget, so that a returning annotator doesn't start over.
        """
        score, passed, checks = 0.0, spent, 0
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
        """Return the probability that an annotator with this hit rate has failed after ``checks`` checks."""
        return float(self.failure_curve(hit_rate, checks)[-1])

    def failure_curve(self, hit_rate: float, checks: int) -> Floats:
        """Return the probability of having failed after 0, 1, … checks, shape (checks + 1,).

        Exact, except that paths with a probability below 1e-10 are ignored. A test begins when the previous one was
        passed, so the distributions of their lengths are convolved.
        """
        begins = np.array([1.0])  # the probability that a test begins after 0, 1, … checks
        failed = np.zeros(checks + 1)
        for one_fails, one_ends in self._tests(hit_rate, checks):
            found = np.convolve(begins, one_fails)[: checks + 1]
            failed[: len(found)] += found
            begins = np.convolve(begins, one_ends)[: checks + 1]
            if begins.sum() < NEGLIGIBLE:
                break
        curve: Floats = np.minimum(1.0, np.cumsum(failed))
        return curve

    def _tests(self, hit_rate: float, checks: int) -> Iterator[tuple[Floats, Floats]]:
        """Yield, for each test, the probability that it fails and that it is passed at its 0th, 1st, … check.

        Yields as many tests as fit in the checks, each stricter than the previous one. Tests are computed in blocks of
        doubling size: if few people get that far, later tests are never requested.
        """
        tests = int(checks // (self.floor / self.hit)) + 1
        first, count = 0, 8
        while first < tests:
            fails, ends = self._tests_between(first, min(first + count, tests), hit_rate, checks)
            yield from zip(fails.T, ends.T, strict=True)
            first, count = first + count, 2 * count

    def _tests_between(self, first: int, last: int, hit_rate: float, checks: int) -> tuple[Floats, Floats]:
        """Return the values that `_tests` yields for a range of tests, each of shape (checks looked at, tests)."""
        limits = np.array([self.limit(passed) for passed in range(first, last)])
        fails, ends = np.zeros((checks + 1, len(limits))), np.zeros((checks + 1, len(limits)))
        standing, fewest = np.ones((1, len(limits))), 0  # a row for each number of misses, from the fewest on
        for check in range(1, checks + 1):
            misses = np.arange(fewest, fewest + len(standing) + 1)
            score = (check - misses) * self.hit + misses * self.miss
            hits, more = standing * hit_rate, standing * (1 - hit_rate)
            if score[0] <= self.floor:  # rows are further apart than a hit goes: no other row can end
                ends[check] = hits[0]
                hits[0] = 0.0
            is_failed = score[1:, None] >= limits  # a hit fails nobody
            fails[check] = (more * is_failed).sum(axis=0)
            hits[hits < NEGLIGIBLE] = 0.0
            more[is_failed | (more < NEGLIGIBLE)] = 0.0
            left = np.zeros((len(misses), len(limits)))
            left[:-1] = hits
            left[1:] += more
            held = np.flatnonzero(left.any(axis=1))
            if not len(held):
                return fails[: check + 1], ends[: check + 1]
            standing, fewest = left[held[0] : held[-1] + 1], fewest + int(held[0])
        return fails, ends
