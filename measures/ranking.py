"""How many judged items it takes to tell two systems apart, from a pilot or from assumptions.

Two systems answer the same items, and people judge both answers. The difference of the judgments of an item is D. The mean
of D is tested by its standard error, so the needed number of items follows from the spread of D: it is small where the
systems are mostly right and wrong together.
"""

from dataclasses import dataclass
from math import ceil, comb, isfinite, sqrt

import numpy as np

from measures.rectified import LEAST, UNSEEN, Board


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems.

    Attributes
    ----------
    spread
        The mean of D²: of right and wrong judgments, the share of items in which exactly one system is right.
    explained
        The share of the variance of D that goes when the automatic scores of both systems, with their weights, are
        subtracted (R²); 0 without them.
    """

    spread: float
    explained: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.spread <= 1:
            raise ValueError(
                f"exactly one of two systems is right in a share of the items above 0, not {self.spread:g}"
            )
        if not 0 <= self.explained < 1:
            raise ValueError(
                f"automatic scores explain at least 0 and less than 1 of the variance, not {self.explained:g}"
            )


@dataclass(frozen=True, slots=True)
class PowerTest:
    """The test of a difference: its two-sided level, shared among ``pairs`` (Bonferroni), and the power."""

    power: float = 0.8
    level: float = 0.05
    pairs: int = 1

    def __post_init__(self) -> None:
        for name, value in (("power", self.power), ("level", self.level)):
            if not 0 < value < 1:
                raise ValueError(f"the {name} lies between 0 and 1, not {value:g}")
        if self.pairs < 1:
            raise ValueError("there is at least one pair of systems")
        if self.power <= self.level:
            raise ValueError(f"the power must be above the level {self.level:g}, not {self.power:g}")

    @property
    def errors(self) -> float:
        """The standard errors that the difference must measure."""
        from scipy.special import ndtri  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

        return float(ndtri(1 - self.level / self.pairs / 2) + ndtri(self.power))


def items_needed(
    difference: float, pair: Pair, test: PowerTest | None = None, *, wrong: float = 0.0, items: float = float("inf")
) -> int | None:
    """Return the number of items to judge until a difference is found; None if ``items`` aren't enough.

    With the error e of judgments, the difference shrinks to (1 - 2e) d, and the spread π becomes π((1-e)² + e²) +
    (1-π) 2e(1-e). Automatic scores of all ``items`` leave the variance (1-R²)σ²/n + R²σ²/items. As in `measures.rectified`,
    one disagreement is added to the sample.

    Parameters
    ----------
    difference
        Of the mean judgments of two systems, between 0 and 1.
    wrong
        The share of wrong judgments e, equally often of right and of wrong answers; below a half.
    items
        The number of all items, with automatic scores.

    Examples
    --------
    >>> items_needed(0.05, Pair(0.2))
    626
    >>> items_needed(0.05, Pair(0.2), wrong=0.1)
    1507
    >>> items_needed(0.05, Pair(0.2, explained=0.5), items=5_000)
    341
    """
    if not 0 < difference <= pair.spread:
        raise ValueError(f"a difference lies above 0 and is at most the spread {pair.spread:g}, not {difference:g}")
    if not 0 <= wrong < 0.5:
        raise ValueError(f"the share of wrong judgments lies between 0 and 0.5, not {wrong:g}")
    alike = (1 - wrong) ** 2 + wrong**2
    found = (1 - 2 * wrong) * difference
    variance = pair.spread * alike + (1 - pair.spread) * (1 - alike) - found**2
    clean = pair.spread - difference**2
    explained = pair.explained * (1 - 2 * wrong) ** 2 * clean / variance if variance else 0.0
    allowed = (found / (test or PowerTest()).errors) ** 2 - (explained * variance / items if isfinite(items) else 0.0)
    if allowed <= 0:
        return None
    rest = (1 - explained) * variance  # rest / n + UNSEEN / n² = allowed
    needed = ceil((rest + sqrt(rest**2 + 4 * allowed * UNSEEN)) / (2 * allowed))
    needed = max(needed, LEAST)
    return needed if needed <= items else None


def wrong_by_majority(error: float, votes: int) -> float:
    """Return the share of wrong labels by the majority of an odd number of votes that err independently.

    Examples
    --------
    >>> round(wrong_by_majority(0.2, 3), 3)
    0.104
    """
    if votes < 1 or votes % 2 == 0:
        raise ValueError(f"a majority is of an odd number of votes, not {votes}")
    return sum(comb(votes, k) * error**k * (1 - error) ** (votes - k) for k in range(votes // 2 + 1, votes + 1))


def pairs_of(board: Board) -> dict[tuple[str, str], Pair]:
    """Return each pair of the systems of a pilot, as people judged them, but for those with the same judgments."""
    found = {}
    for one in board.differences():
        left, right = (board.judgments[name] for name in (one.first, one.second))
        difference = left - right
        if not difference.any():
            continue
        scores = [board.weighted(name)[board.judged] for name in (one.first, one.second)]
        left_over = np.var(difference - scores[0] + scores[1]) / np.var(difference) if np.ptp(difference) else 1.0
        count = len(difference)
        explained = 1 - float(left_over) * (count - 1) / (count - 3)  # two weights were fitted
        spread = min(1.0, float((difference**2).mean()))
        found[one.first, one.second] = Pair(spread, min(max(explained, 0.0), 0.999))
    return found
