"""System scores in human terms: automatic scores of all items, corrected by people's judgments of a random sample.

An automatic score (string match, a language model's verdict) is cheap and biased; people's judgments are few. The
rectified score is unbiased whatever the automatic one measures, and its interval is narrower the better both agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from measures.judgments import Floats, Places
from measures.reliability import wilson

UNSEEN = 1.0  # the square of the largest disagreement, added to those of a sample
FAR = 4.0  # standard errors between the means of a sample and of all scores
LEAST = 20  # judged items of each stratum: with fewer, the weight of the automatic score is a guess


class TooFewJudged(ValueError):
    """A stratum has too few judged items."""

    def __init__(self, stratum: int, judged: int) -> None:
        super().__init__(f"stratum {stratum} has {judged} judged items; {LEAST} are needed")
        self.stratum, self.judged = stratum, judged


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rectified:
    """The score of one system.

    Attributes
    ----------
    score
        The mean human judgment of items of this kind, from automatic scores and judgments.
    sample
        The same from the judgments alone.
    automatic
        The mean automatic score of all items.
    weights
        The weight of the automatic score in each stratum (λ): 0 ignores it, as where `is_alike` finds a difference.
    """

    score: Interval
    sample: Interval
    automatic: float
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The score of the first system minus that of the second, with its interval and two-sided p."""

    first: str
    second: str
    difference: Interval
    p: float


def is_alike(sample: Floats, scores: Floats) -> bool:
    """Return whether a random sample of scores may stand for all of them: it has their mean, and none is far from it.

    A typing error in one score, or scores on two scales, would otherwise decide the result. By chance alone, the means
    differ so much in 6 of 100,000 samples.
    """
    reach = np.ptp(sample)
    is_near = bool(scores.min() >= sample.min() - reach and scores.max() <= sample.max() + reach)
    error = scores.std() * sqrt(max(0.0, 1 / len(sample) - 1 / len(scores)))
    return is_near and bool(abs(sample.mean() - scores.mean()) <= FAR * error + 1e-12)


@dataclass(frozen=True)
class Board:
    """The systems of a board: automatic scores of all items, and judgments of the same sample.

    Attributes
    ----------
    scores
        By system: the automatic score of each item, shape (items,).
    judged
        The places of the judged items, shape (judged,).
    judgments
        By system: people's judgments of these items, between 0 and 1, shape (judged,).
    stratum
        The stratum of each item, from 0 on, shape (items,). The sample is random in each stratum.

    Raises
    ------
    TooFewJudged

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic (2023). PPI++: efficient prediction-powered inference. arXiv:2311.01453.

    W. G. Cochran (1977). Sampling Techniques, 3rd edition, sections 7.3 (regression estimates) and 7.10 (in strata).

    Examples
    --------
    >>> chance = np.random.default_rng(0)
    >>> right = chance.random(2_000) < 0.7
    >>> match = np.where(chance.random(2_000) < 0.9, right, ~right).astype(float)
    >>> sample = chance.choice(2_000, 200, replace=False)
    >>> board = Board({"a": match}, sample, {"a": right[sample].astype(float)}, np.zeros(2_000, dtype=int))
    >>> found = board.rectified("a")
    >>> round(found.automatic, 2), round(found.score.value, 2)
    (0.66, 0.7)
    """

    scores: Mapping[str, Floats]
    judged: Places
    judgments: Mapping[str, Floats]
    stratum: Places

    def __post_init__(self) -> None:
        counts = np.bincount(self.stratum[self.judged], minlength=int(self.stratum.max()) + 1)
        if counts.min() < LEAST:
            raise TooFewJudged(int(counts.argmin()), int(counts.min()))

    def rectified(self, system: str, *, confidence: float = 0.95) -> Rectified:
        """Return the score of a judged system.

        The estimate of a stratum is λ · (mean automatic score of all its items) + mean(judgment - λ · automatic score) over
        the sample, with λ = cov / var, which makes the variance least: the regression estimator. The interval is for items
        of this kind; those of the board are a sample too. It is Wilson's at the number of judgments that would give the
        same variance, with Student's t for the normal quantile (judged items less two for each stratum).
        """
        judgments, scores = self.judgments[system], self.scores[system]
        weights = self._weights(system)
        return Rectified(
            self._interval(judgments, scores, weights, confidence),
            self._interval(judgments, scores, tuple(0.0 for _ in weights), confidence),
            float(scores.mean()),
            weights,
        )

    def differences(self, *, confidence: float = 0.95) -> list[Difference]:
        """Return the difference of each pair of judged systems, paired item by item."""
        from scipy.special import stdtr  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

        found, weighted = [], {system: self.weighted(system) for system in self.judgments}
        for first, second in combinations(self.judgments, 2):
            left, right = self.judgments[first], self.judgments[second]
            left_score, right_score = weighted[first], weighted[second]
            value, error = self._estimate(left - right, left_score - right_score)
            at_most = self._half(error, confidence)
            p = 2 * float(stdtr(self._freedom(), -abs(value) / error)) if error else float(value == 0)
            found.append(Difference(first, second, Interval(value, value - at_most, value + at_most), p))
        return found

    def weighted(self, system: str) -> Floats:
        """Return the automatic scores of all items, each times the weight of its stratum."""
        return self._of_items(self.scores[system], self._weights(system))

    def _weights(self, system: str) -> tuple[float, ...]:
        """Return the weight of the automatic score in each stratum: 0 where the sample can't speak for all scores."""
        found = []
        for number, (_size, here) in enumerate(self._strata()):
            judgments, scores = self.judgments[system][here], self.scores[system][self.judged[here]]
            covariance, variance = ((judgments - judgments.mean()) * (scores - scores.mean())).mean(), scores.var()
            usable = (
                np.ptp(scores) > 0 and variance > 0 and is_alike(scores, self.scores[system][self.stratum == number])
            )
            found.append(float(covariance / variance) if usable else 0.0)
        return tuple(found)

    def _strata(self) -> list[tuple[int, Places]]:
        """Return, for each stratum, its number of items and the places of its judged items in the sample."""
        of_sample = self.stratum[self.judged]
        return [
            (int((self.stratum == number).sum()), np.flatnonzero(of_sample == number))
            for number in range(int(self.stratum.max()) + 1)
        ]

    def _of_items(self, scores: Floats, weights: Sequence[float]) -> Floats:
        """Return the automatic scores times the weight of their stratum."""
        found: Floats = scores * np.array(weights)[self.stratum]
        return found

    def _interval(self, judgments: Floats, scores: Floats, weights: Sequence[float], confidence: float) -> Interval:
        value, error = self._estimate(judgments, self._of_items(scores, weights))
        bounded = min(max(value, 0.0), 1.0)
        is_alike = not error or bounded in (0.0, 1.0)  # no variance to learn a size from
        size = float(len(judgments)) if is_alike else bounded * (1 - bounded) / error**2
        low, high = wilson(np.array([bounded]), np.array([size]), self._half(1.0, confidence))
        return Interval(bounded, min(bounded, float(low[0])), max(bounded, float(high[0])))

    def _estimate(self, judgments: Floats, weighted: Floats) -> tuple[float, float]:
        """Return the estimate from judgments and weighted automatic scores, and its standard error.

        The variance is that of the sample within the items, plus that of the items as a sample of their kind. One
        disagreement of full size is added to each stratum, and one to all items: where the automatic score is good, or
        systems are alike, a sample may hold none.
        """
        items, value, within, between = len(weighted), 0.0, 0.0, 0.0
        mean = sum(size / items * judgments[here].mean() for size, here in self._strata())
        for size, here in self._strata():
            share, count = size / items, len(here)
            rest = judgments[here] - weighted[self.judged[here]]
            value += share * (weighted[self.stratum == self.stratum[self.judged[here[0]]]].mean() + rest.mean())
            within += share**2 * (1 - count / size) * (((rest - rest.mean()) ** 2).sum() + UNSEEN) / (count - 2) / count
            between += share * (judgments[here].var(ddof=1) + (judgments[here].mean() - mean) ** 2) / items
        return float(value), sqrt(within + between + UNSEEN / items**2)

    def _freedom(self) -> int:
        return len(self.judged) - 2 * (int(self.stratum.max()) + 1)

    def _half(self, error: float, confidence: float) -> float:
        from scipy.special import stdtrit  # noqa: PLC0415  half a second, seldom wanted

        return float(stdtrit(self._freedom(), 0.5 + confidence / 2) * error)
