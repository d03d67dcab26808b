"""The scores that a sealed board shows: only those better by more than a step, and by more than chance.

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


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and what each unit (an example, item or question) adds to it.

    The mean of ``values`` is the score, if the score is a mean; for F1, they are its linear terms.
    """

    score: float
    values: Sequence[float]


def least_gain(best: Scored, new: Scored, *, step: float, attempt: int) -> float:
    """Return how much better a submission must be than the best score that was shown.

    If a submission isn't better than the best one, each unit in which they differ is equally likely to favor either of
    them. The probability that their sum is as large as t is then at most exp(-t² / (2 Σd²)) (Hoeffding 1963), however
    few units differ.

    Parameters
    ----------
    attempt
        The number of this submission among all against the same labels, from 1 on: the level of the test is ``LEVEL``
        over ``attempt * (attempt + 1)``, which sums to ``LEVEL`` over all possible submissions.
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
    """Return a score rounded to whole steps."""
    return round(round(score / step) * step, 6)
