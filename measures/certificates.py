"""A certificate that at most a stated share of labels is wrong, at a stated risk: a risk-limiting audit.

Experts judge labels in a random order, without replacement. After each judgment, a bet against "more labels are wrong than
stated" gains or loses. If they are, the capital is expected never to grow, so it ever reaches 1 / risk with a probability of
at most the risk: the audit may be stopped at any time, for any reason, without a change of that probability.

Judgments are taken as true. What experts get wrong is not covered.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any

import numpy as np

from measures.judgments import Floats

MOST_LABELS = 10_000_000
WEIGHT = 100.0  # the guess counts as much as this number of judgments
MOST_OF_CAPITAL = 0.999  # of the capital is at stake: no wrong label may take everything
TIE = 1e-9  # the program and the page may round sums of logarithms differently
GRID = 2_000  # shares that a confidence sequence looks at
FIRST_RATE = 0.025  # of wrong labels, that it expects at first


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim "of ``size`` labels at most the share ``error`` is wrong", at the risk of certifying it falsely.

    Attributes
    ----------
    guess
        The share of wrong labels that bets expect at first. A wrong guess costs judgments, never validity.
    weight
        The number of judgments that the guess counts as much as.
    """

    size: int
    error: float = 0.05
    risk: float = 0.05
    guess: float | None = None
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        if not 1 <= self.size <= MOST_LABELS:
            raise ValueError(f"a certificate is of 1 to {MOST_LABELS:,} labels, not {self.size:,}")
        for name, value in (("error", self.error), ("risk", self.risk)):
            if not 0 < value < 1:
                raise ValueError(f"{name} is {value:g}, but must lie between 0 and 1 (0.05 is 5%)")
        if not 0 <= self.first_guess < 1 or not 0 < self.weight < inf:
            raise ValueError(f"guess is {self.first_guess:g}, but must lie between 0 and 1; its weight is positive")

    @property
    def first_guess(self) -> float:
        """The guess; half of the stated error if there is none."""
        return self.error / 2 if self.guess is None else self.guess


class RiskLimitingAudit:
    """The state of an audit after each judgment.

    If the claim is false, then before the i-th judgment, with j wrong labels found, at least the share m = (N ε - j) /
    (N - i + 1) of the others is wrong. The stake λ is the one that grows fastest if labels are wrong at the rate p
    estimated so far: λ = (m - p) / (m (1 - m)), between 0 and 0.999 / (1 - m), so that no wrong label takes everything.

    The rate is p = (weight · guess + j) / (weight + i - 1). The capital is multiplied by 1 + λ (m - x), where x is 1 for a
    wrong label and 0 for a right one. If all labels are judged, the share is known.

    References
    ----------
    P. B. Stark (2023). ALPHA: audit that learns from previously hand-audited ballots. Annals of Applied Statistics 17(1).

    I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting. Journal of the Royal
    Statistical Society B 86(1).

    Examples
    --------
    >>> audit = RiskLimitingAudit(Claim(1_000))
    >>> while not audit.is_certified:
    ...     audit.add(is_wrong=False)
    >>> audit.judged
    85
    """

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.judged = self.wrong = 0
        self.log_capital = 0.0
        self.is_certified = False

    def add(self, *, is_wrong: bool) -> None:
        """Take the next judgment, in the random order.

        Raises
        ------
        ValueError
            All labels were judged.
        """
        if self.judged == self.claim.size:
            raise ValueError("all labels were judged")
        self.log_capital += float(log_gain(self.claim, self.judged, self.wrong, is_wrong))
        self.judged += 1
        self.wrong += is_wrong
        self.is_certified = self.is_certified or bool(is_reached(self.claim, self.log_capital, self.judged, self.wrong))

    def fewest_left(self, most: int) -> int | None:
        """Return the number of judgments until the certificate if all further labels are right; None if above ``most``.

        No audit ends with fewer, so experts can judge that many labels at the same time, and all of them are needed.
        """
        ahead, most = copy(self), min(most, self.claim.size - self.judged)
        for number in range(most + 1):
            if ahead.is_certified:
                return number
            if number < most:
                ahead.add(is_wrong=False)
        return None


def log_gain(claim: Claim, judged: Any, wrong: Any, is_wrong: Any) -> Floats:
    """Return the gain of the log capital at a judgment, see `RiskLimitingAudit`; arrays are many audits at once.

    Parameters
    ----------
    judged, wrong
        The numbers of judgments, and of wrong labels among them, before this one.
    """
    least = (claim.size * claim.error - wrong) / (claim.size - judged)
    rate = (claim.weight * claim.first_guess + wrong) / (claim.weight + judged)
    return gain_of_bet(least, rate, is_wrong)


def gain_of_bet(least: Any, rate: Any, is_wrong: Any) -> Floats:
    """Return the gain of the log capital of a bet against "at least the share ``least`` of the others is wrong".

    Parameters
    ----------
    rate
        The share that is expected to be wrong.
    """
    held = np.clip(least, 1e-12, 1 - 1e-12)
    stake = np.clip((held - rate) / (held * (1 - held)), 0, MOST_OF_CAPITAL / (1 - held))
    gain = np.log(1 + stake * (held - is_wrong))
    # From 1 on, a right label disproves it. Down to 0 and below, nothing can: enough wrong labels were found.
    found: Floats = np.where(least <= 0, 0.0, np.where(least >= 1, np.where(is_wrong, 0.0, inf), gain))
    return found


def is_reached(claim: Claim, log_capital: Any, judged: int, wrong: Any) -> Any:
    """Return whether the claim is certified at a moment, for one audit or for many."""
    is_known = (judged == claim.size) & (wrong <= claim.size * claim.error)
    return is_known | (log_capital >= log(1 / claim.risk) - TIE)


def interval(judgments: Iterable[bool], size: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the bounds of a confidence sequence for the share of wrong labels, after some judgments in random order.

    The bounds hold at all times together: with probability ``confidence``, none of the intervals of an audit misses the
    share. Each bound comes from bets like those of `RiskLimitingAudit`, one for each possible share (at most 2,001, so the
    bounds are a little too wide for more labels).

    Parameters
    ----------
    judgments
        Whether each judged label is wrong, in order.

    Examples
    --------
    >>> low, high = interval([number % 20 == 9 for number in range(100)], 5_000)
    >>> round(low, 3), round(high, 3)
    (0.009, 0.141)
    """
    shares, limit = np.linspace(0, 1, min(size, GRID) + 1), log(2 / (1 - confidence))
    below, above = np.zeros(len(shares)), np.zeros(len(shares))  # log capital of bets on less, and on more
    too_much, too_little = np.zeros(len(shares), dtype=bool), np.zeros(len(shares), dtype=bool)
    wrong = judged = 0
    for is_wrong in judgments:
        mean = (size * shares - wrong) / (size - judged)
        held = np.clip(mean, 1e-12, 1 - 1e-12)
        rate = (WEIGHT * FIRST_RATE + wrong) / (WEIGHT + judged)
        fastest = (held - rate) / (held * (1 - held))
        less = np.clip(fastest, 0, MOST_OF_CAPITAL / (1 - held))
        more = np.clip(-fastest, 0, MOST_OF_CAPITAL / held)
        below += np.log(1 + less * (held - is_wrong))
        above += np.log(1 + more * (is_wrong - held))
        too_much |= below >= limit
        too_little |= above >= limit
        judged, wrong = judged + 1, wrong + is_wrong
    # The share may lie between a rejected share and the next one on the grid, so the rejected one is the bound.
    low = float(shares[too_little].max()) if too_little.any() else 0.0
    high = float(shares[too_much].min()) if too_much.any() else 1.0
    fewest, most = wrong / size, (wrong + size - judged) / size  # what is certain
    low, high = (min(max(bound, fewest), most) for bound in (low, high))
    return min(low, high), max(low, high)  # they can cross in the few audits whose intervals missed the share


@dataclass(frozen=True, slots=True)
class Effort:
    """The judgments until a certificate: the mean, and the number that nine of ten audits don't exceed.

    ``certified`` is the share of the simulated audits that are certified within ``most`` judgments.
    """

    mean: float
    nine_of_ten: float
    certified: float


def effort(claim: Claim, share: float, *, most: int | None = None, runs: int = 400, seed: int = 0) -> Effort:
    """Return the effort to a certificate if this share of the labels is wrong, from simulated audits.

    Parameters
    ----------
    most
        The number of judgments after which an audit ends without a certificate; all labels if None.

    Examples
    --------
    >>> found = effort(Claim(5_000), 0.01)
    >>> 120 < found.mean < 155, found.certified
    (True, 1.0)
    """
    most = min(claim.size, most or claim.size)
    chance, left = np.random.default_rng(seed), round(claim.size * share)
    wrong, capital, needed = np.zeros(runs), np.zeros(runs), np.full(runs, np.inf)
    for judged in range(most):
        is_wrong = chance.random(runs) < (left - wrong) / (claim.size - judged)
        capital += log_gain(claim, judged, wrong, is_wrong)
        wrong += is_wrong
        needed[is_reached(claim, capital, judged + 1, wrong) & np.isinf(needed)] = judged + 1
        if np.isfinite(needed).all():
            break
    ended = np.minimum(needed, most)
    return Effort(float(ended.mean()), float(np.quantile(ended, 0.9)), float(np.isfinite(needed).mean()))


def expert_error(twice: int, differ: int, labels: int) -> float | None:
    """Return the share of items in which one expert errs, from items that two experts judged alone.

    None if the experts differ so often that chance alone explains it.

    The experts are taken to err independently, equally often, and in favor of each other label alike. Then they differ in
    the share 1 - (1 - e)² - e² / (labels - 1) of the items.

    Parameters
    ----------
    twice, differ
        The numbers of items judged by two experts, and of items on which the experts differed.
    labels
        The number of labels to choose from; at least 2.

    Examples
    --------
    >>> round(expert_error(50, 4, 2), 3)
    0.042
    """
    one = 1 + 1 / (labels - 1)  # 1 - (1 - e)² - e² / (labels - 1) = 2 e - one · e²
    left = 1 - one * differ / twice
    return None if left <= 0 else (1 - sqrt(left)) / one


def wrong_if_experts_err(share: float, error: float, labels: int) -> float | None:
    """Return the share of wrong labels if experts find the share ``share`` wrong and err in the share ``error`` of items.

    None if their errors alone would make them find as many.

    An expert who errs calls a right label wrong, and a wrong one right with probability 1 / (labels - 1). It shows how much
    the experts' errors may matter; it is no estimate, because it rests on the assumptions of `expert_error`.

    Examples
    --------
    >>> round(wrong_if_experts_err(0.06, 0.042, 2), 3)
    0.02
    """
    told_apart = 1 - error - error / (labels - 1)
    return min(1.0, (share - error) / told_apart) if told_apart > 0 and share >= error else None
