"""What a sealed board lets out: a score only when it is better by more than a step, and by more than chance.

After the Ladder of Blum and Hardt (2015, "The Ladder: a reliable leaderboard for machine learning competitions"): a
team learns a new score, rounded, only when it beats the best that anyone was shown before; otherwise it learns that it does
not. Besides the stated step, an improvement has to pass a test on the paired differences whose level falls with each
submission, so that all submissions ever made, by whomever, are shown a chance improvement with a probability of 5% at most.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEVEL = 0.05  # the probability that a board ever shows an improvement by chance
LEAST_STEP = 0.005


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and what each unit (an example, item or question) adds to it.

    The mean of ``values`` is the score, where that is a mean; of F1 they are its linear terms.
    """

    score: float
    values: Sequence[float]


def least_gain(best: Scored, new: Scored, *, step: float, attempt: int) -> float:
    """Return by how much a submission has to be better than the best one that was shown.

    Where a submission is no better than the best one, each unit in which they differ is as likely to speak for the one as
    for the other. The chance that their sum is as large as t is then exp(-t² / (2 Σd²)) at most (Hoeffding 1963), however
    few units differ.

    Parameters
    ----------
    attempt
        Which submission this is of all against the same labels, from 1 on: the level of the test is ``LEVEL`` over
        ``attempt * (attempt + 1)``, which sums to ``LEVEL`` over all that can ever come.
    """
    differences = [b - a for a, b in zip(best.values, new.values, strict=True)]
    level = LEVEL / (attempt * (attempt + 1))
    by_chance = math.sqrt(2 * math.log(1 / level) * sum(one * one for one in differences)) / max(1, len(differences))
    return max(step, by_chance)


def shown_score(best: Scored, new: Scored, *, step: float, attempt: int) -> float | None:
    """Return the score to show, rounded to the step; None where it is not better by enough, and nothing is told."""
    gain = new.score - best.score
    return rounded(new.score, step) if gain > 0 and gain >= least_gain(best, new, step=step, attempt=attempt) else None


def rounded(score: float, step: float) -> float:
    """Return a score to whole steps."""
    return round(round(score / step) * step, 6)
