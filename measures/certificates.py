"""A certificate that at most a stated share of labels is wrong, at a stated risk: a risk-limiting audit.

Experts judge labels in a random order, without replacement. After each judgment, a bet against "more labels are wrong than
stated" gains or loses. If they are, the capital is expected never to grow, so it ever reaches 1 / risk with a probability of
at most the risk: the audit may be stopped at any time, for any reason, without a change of that probability.

Judgments are taken as true. What experts get wrong is not covered.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, log, log1p

import numpy as np

from measures.judgments import Floats

WEIGHT = 100.0  # judgments that the guess counts as much as
GRID = 2_000  # shares that a confidence sequence looks at
_MOST_CELLS = 20_000_000  # of an array at once


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim "of ``size`` labels at most the share ``error`` is wrong", at the risk of certifying it falsely.

    Attributes
    ----------
    guess
        The share of wrong labels that bets expect at first. A wrong guess costs judgments, never validity.
    weight
        How many judgments the guess counts as much as.
    """

    size: int
    error: float = 0.05
    risk: float = 0.05
    guess: float | None = None
    weight: float = WEIGHT

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError("a certificate needs at least one label")
        if not (0 < self.error < 1 and 0 < self.risk < 1 and 0 <= self.first_guess < 1 and self.weight > 0):
            raise ValueError("error, risk and guess lie between 0 and 1, and the weight is positive")

    @property
    def first_guess(self) -> float:
        """The guess; half of the stated error if there is none."""
        return self.error / 2 if self.guess is None else self.guess


class RiskLimitingAudit:
    """The state of an audit after each judgment.

    If the claim is false, then before the i-th judgment, with j wrong labels found, at least the share m = (N ε - j) /
    (N - i + 1) of the others is wrong. The stake λ is the one that grows fastest if labels are wrong at the rate p
    estimated so far: λ = (m - p) / (m (1 - m)), between 0 and 1 / (1 - m).

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
        claim = self.claim
        least = (claim.size * claim.error - self.wrong) / (claim.size - self.judged)
        if least >= 1:  # all others would have to be wrong
            gain = 0.0 if is_wrong else inf
        elif least <= 0:  # so many were found that the claim is false
            gain = 0.0
        else:
            rate = (claim.weight * claim.first_guess + self.wrong) / (claim.weight + self.judged)
            stake = min(max((least - rate) / (least * (1 - least)), 0.0), 1 / (1 - least))
            factor = 1 + stake * (least - is_wrong)
            gain = log1p(stake * (least - is_wrong)) if factor > 0 else -inf
        self.log_capital += gain
        self.judged += 1
        self.wrong += is_wrong
        is_known = self.judged == claim.size and self.wrong <= claim.size * claim.error
        self.is_certified = self.is_certified or is_known or self.log_capital >= log(1 / claim.risk)


def interval(judgments: Iterable[bool], size: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the bounds of a confidence sequence for the share of wrong labels, after some judgments in random order.

    The bounds hold at all times together: with probability ``confidence``, none of the intervals of an audit misses the
    share. Each bound is made of bets as those of `RiskLimitingAudit`, one for each possible share (of at most 2,001, so
    that the bounds are a little too wide for more labels).

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
    shares = np.linspace(0, 1, min(size, GRID) + 1)
    kept, limit = np.ones(len(shares), dtype=bool), log(2 / (1 - confidence))
    below, above = np.zeros(len(shares)), np.zeros(len(shares))  # log capital of bets on less, and on more
    wrong = 0
    for judged, is_wrong in enumerate(judgments):
        left = size - judged
        mean = (size * shares - wrong) / left
        kept &= (mean > -1e-9) & (mean < 1 + 1e-9)
        held = np.clip(mean, 1e-12, 1 - 1e-12)
        rate = (WEIGHT * 0.025 + wrong) / (WEIGHT + judged)
        fastest = (held - rate) / (held * (1 - held))
        less, more = np.clip(fastest, 0, 0.999 / (1 - held)), np.clip(-fastest, 0, 0.999 / held)
        below += np.log1p(less * (held - is_wrong))
        above += np.log1p(more * (is_wrong - held))
        kept &= (below < limit) & (above < limit)
        wrong += is_wrong
    found = shares[kept]
    step = 1 / (len(shares) - 1) if len(shares) <= size else 0.0
    return (max(0.0, float(found.min()) - step), min(1.0, float(found.max()) + step)) if len(found) else (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Effort:
    """How many judgments an audit takes: the mean, the number that nine of ten audits stay below, and the share certified.

    ``certified``: of the simulated audits, within ``most`` judgments.
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
    chance, wrong = np.random.default_rng(seed), round(claim.size * share)
    needed = []
    step = max(1, _MOST_CELLS // claim.size)
    for begin in range(0, runs, step):
        labels = np.zeros((min(step, runs - begin), claim.size), dtype=bool)
        labels[:, :wrong] = True
        needed.append(first_certified(claim, chance.permuted(labels, axis=1)[:, :most]))
    found = np.concatenate(needed)
    ended = np.where(found > most, most, found)
    return Effort(float(ended.mean()), float(np.quantile(ended, 0.9)), float((found <= most).mean()))


def first_certified(claim: Claim, wrong: np.ndarray) -> Floats:
    """Return the judgment at which each of many audits is certified, shape (audits,); size + 1 if none is.

    Parameters
    ----------
    wrong
        Shape (audits, judgments): whether each label is wrong, in the order of judgment.
    """
    before = np.cumsum(wrong, axis=1) - wrong
    judged = np.arange(wrong.shape[1])
    least = (claim.size * claim.error - before) / (claim.size - judged)
    held = np.clip(least, 1e-12, 1 - 1e-12)
    rate = (claim.weight * claim.first_guess + before) / (claim.weight + judged)
    stake = np.clip((held - rate) / (held * (1 - held)), 0, 1 / (1 - held))
    with np.errstate(divide="ignore"):
        gain = np.log(np.maximum(1 + stake * (held - wrong), 0.0))
    gain = np.where(least <= 0, 0.0, np.where(least >= 1, np.where(wrong, 0.0, np.inf), gain))
    is_there = np.cumsum(gain, axis=1) >= log(1 / claim.risk)
    if wrong.shape[1] == claim.size:  # then the share is known
        is_there[:, -1] |= wrong.sum(axis=1) <= claim.size * claim.error
    found: Floats = np.where(is_there.any(axis=1), is_there.argmax(axis=1) + 1, claim.size + 1).astype(float)
    return found
