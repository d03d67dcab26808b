"""The scores that a sealed board shows: only those better by at least a step, and by more than chance.

After the Ladder of Blum and Hardt (2015, "The Ladder: a reliable leaderboard for machine learning competitions"): a
team learns a new score, rounded, only if it beats the best score shown before; otherwise it learns only that it
doesn't. Besides the stated step, an improvement must pass a test on the paired differences. The test's level falls with
each submission, so over all submissions of all teams, a chance improvement is shown with a probability of at most 5%.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.05  # the probability that a board ever shows an improvement by chance
LEAST_STEP = 0.005
ROUNDING = 1e-9  # of the difference of two scores
LEAST_UNITS = 20  # on fewer, no gain below thirty points could be told from chance
STAKES = (0.95, 0.5, 0.25, 0.125, 0.0625, 0.03125)  # shares of the capital that are bet; a small gain needs a small one


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and what each unit (an example, item or question) adds to it.

    The mean of ``values`` is the score, if the score is a mean; for F1, they are its linear terms. No unit can add less
    than ``low`` or more than ``high``; if ``is_binary``, each adds one of these two.
    """

    score: float
    values: Sequence[float]
    low: float = 0.0
    high: float = 1.0
    is_binary: bool = False


def chance_of(best: Scored, new: Scored) -> float:
    """Return a bound on the probability of such differences if the new submission is no better on units of this kind.

    If units are right or wrong, this is the exact binomial probability that as many of those that differ favor the new
    one. Other differences may be many small gains and a few large losses, which a sample can miss altogether. The bound
    is then that of a bet against "no better": the capital, a mean over several stakes, grows with gains and falls with
    losses. It is expected not to grow, so it reaches c with a probability of at most 1 / c. For F1, whose linear terms
    use the scores themselves, this holds approximately.

    References
    ----------
    I. Waudby-Smith and A. Ramdas (2024). Estimating means of bounded random variables by betting. Journal of the Royal
    Statistical Society B 86(1).

    Examples
    --------
    >>> old, new = [1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1, 0, 1]
    >>> round(chance_of(Scored(0.125, old, is_binary=True), Scored(0.75, new, is_binary=True)), 4)
    0.0625
    """
    differences = [b - a for a, b in zip(best.values, new.values, strict=True)]
    if best.is_binary and new.is_binary:
        return _at_least(sum(one > 0 for one in differences), sum(one != 0 for one in differences))
    most_lost = best.high - new.low
    grown = [math.fsum(math.log1p(stake * one / most_lost) for one in differences) for stake in STAKES]
    most = max(grown)
    capital = most + math.log(math.fsum(math.exp(one - most) for one in grown) / len(grown))
    return math.exp(min(0.0, -capital))


def _at_least(wins: int, flips: int) -> float:
    """Return the probability of at least ``wins`` heads in ``flips`` flips of a fair coin."""
    from scipy.stats import binom  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

    return float(binom.sf(wins - 1, flips, 0.5))


def level_at(attempt: int) -> float:
    """Return the level of a submission's test, by its number among all against the same labels, from 1 on.

    The levels of all possible submissions sum to ``LEVEL``.
    """
    return LEVEL / (attempt * (attempt + 1))


def shown_score(best: Scored, new: Scored, *, step: float, attempt: int) -> float | None:
    """Return the score to show, rounded to the step; None where it is not better by enough, and nothing is told."""
    is_better = new.score - best.score >= step - ROUNDING and chance_of(best, new) <= level_at(attempt)
    return rounded(new.score, step) if is_better else None


def rounded(score: float, step: float) -> float:
    """Return a score rounded to whole steps."""
    return round(round(score / step) * step, 6)
