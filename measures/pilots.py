"""Forecasts from a pilot's judgments for future judgments of other items by other people of the same kinds.

A plan forecasts three numbers from a pilot: how often the majority of the planned number of votes is right, the
agreement (alpha), and the share of items without a majority. Both the pilot and the future campaign are samples of
items and of people, and a few people do most of the work. The interval is that of a two-way jackknife (A. B. Owen,
2007, The pigeonhole bootstrap, Annals of Applied Statistics 1(2)), wide enough for both samples, with as many degrees
of freedom as the effective number of people. On real crowds split by item and by person, this still is too narrow
where a few people work at chance level, so it is widened: see ``docs/explanation/plans.md``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Level, alpha_alone
from measures.judgments import Floats, Judgments, Places, effective_number

GROUPS = 30  # of items that are left out together
WIDER = 1.35  # than the jackknife says: `perf.statistics.forecasts` computes this factor from public crowds
ORDERS = 8  # random orders of an item's votes that are averaged over
NAMES = ("accuracy", "alpha", "no_majority")
BOUNDS = ((0.0, 1.0), (-1.0, 1.0), (0.0, 1.0))


class PilotTooSmall(ValueError):
    """There are too few judgments for a forecast."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A forecast number of a future campaign, with its prediction interval.

    ``value`` is None if it can't be estimated, for example the accuracy if no true labels are known.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def forecasts(
    pilot: Judgments,
    true: Places,
    *,
    votes: int,
    items: int,
    people: float,
    level: Level = Level.NOMINAL,
    confidence: float = 0.9,
    seed: int = 0,
) -> dict[str, Foreseen]:
    """Return forecasts for ``items`` items with ``votes`` votes each, by ``people`` effective people.

    Parameters
    ----------
    true
        The index of each item's true label, -1 if it is unknown, shape (items of the pilot,).
    votes
        Votes per item. Their strict majority is the item's label. Among labels with equally many votes, one is drawn.
    people
        `effective_number` of the campaign to come.

    Returns
    -------
    By name: ``accuracy`` of the majority, ``alpha``, and ``no_majority``, the share of items without one.

    Raises
    ------
    PilotTooSmall
        No item has that many votes, or fewer than four people judged.
    """
    value, half = jackknifed(
        pilot, true, votes=votes, items=items, people=people, level=level, confidence=confidence, seed=seed
    )
    return {
        name: Foreseen(None)
        if np.isnan(at)
        else Foreseen(float(at), float(max(low, at - WIDER * wide)), float(min(high, at + WIDER * wide)))
        for name, at, wide, (low, high) in zip(NAMES, value, half, BOUNDS, strict=True)
    }


def jackknifed(
    pilot: Judgments,
    true: Places,
    *,
    votes: int,
    items: int,
    people: float,
    level: Level,
    confidence: float,
    seed: int,
) -> tuple[Floats, Floats]:
    """Return the three forecasts, nan where unknown, and half of the width of each interval by the jackknife alone.

    Raises
    ------
    PilotTooSmall
    """
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415  seldom wanted

    chance = np.random.default_rng(seed)
    if not (np.bincount(pilot.item) >= votes).any():
        raise PilotTooSmall(f"no item of the pilot has {votes} judgments")
    known, effective = len(np.unique(pilot.annotator)), effective_number(pilot.annotator)
    if known < 4:
        raise PilotTooSmall(f"{known} people judged: too few to say anything of others")
    view = View(pilot, true, votes, level, [chance.random(len(pilot)) for _ in range(ORDERS)])
    group = chance.integers(0, GROUPS, len(pilot.items))
    value = view.of(np.ones(len(pilot), dtype=bool))
    by_item = _variance([view.of(group[pilot.item] != one) for one in range(GROUPS)])
    by_person = _variance([view.of(pilot.annotator != one) for one in np.unique(pilot.annotator)])
    judged = len(np.unique(pilot.item))
    variance = by_item * (1 + judged / items) + by_person * (1 + effective / people)
    half: Floats = stdtrit(max(effective - 1, 2), 0.5 + confidence / 2) * np.sqrt(variance)
    return value, half


@dataclass(frozen=True, slots=True)
class View:
    """The three forecast numbers, computed on any part of some judgments."""

    judgments: Judgments
    true: Places
    votes: int
    level: Level
    orders: list[Floats]

    def of(self, keep: NDArray[np.bool_]) -> Floats:
        """Return accuracy, alpha and the share without a majority; nan for a number that can't be computed."""
        part = self.judgments.part(keep)
        shares = np.array([self._of_votes(part, order[keep]) for order in self.orders]).mean(axis=0)
        found = alpha_alone(part, self.level)
        return np.array([shares[0], np.nan if found is None else found, shares[1]])

    def _of_votes(self, part: Judgments, order: Floats) -> tuple[float, float]:
        """Return both shares (accuracy and no majority), from each item's first votes in a random order."""
        place = np.lexsort((order, part.item))
        rank = np.arange(len(place)) - np.searchsorted(part.item[place], part.item[place])
        first = np.zeros(len(part), dtype=bool)
        first[place[rank < self.votes]] = True
        counts = part.part(first).counts()
        whole = counts.sum(axis=1) >= self.votes
        most = counts.max(axis=1, initial=0)
        known = whole & (self.true >= 0)
        wins = counts[known] == most[known, None]
        right = wins[np.arange(len(wins)), self.true[known]] / wins.sum(axis=1)
        return float(right.mean()) if len(right) else np.nan, float((2 * most[whole] <= self.votes).mean())


def _variance(without: list[Floats]) -> Floats:
    """Return the jackknife variance from the numbers without each group."""
    values = np.array(without)
    found: Floats = (len(values) - 1) / len(values) * ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    return found
