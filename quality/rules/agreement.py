"""Krippendorff's alpha from how often each unit was given each value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient with what it rests on; ``alpha`` is None where it is undefined, and ``why`` says so.

    ``units`` have at least two values, ``values`` are those that can be paired; ``low`` and ``high`` bound the
    middle 95 % of a bootstrap over units; ``observed`` is the share of pairs of values that are equal.
    """

    alpha: float | None
    units: int
    values: int
    observed: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""


def alpha(counts: Any, *, ordinal: bool, resamples: int = 200, seed: int = 0) -> Agreement:
    """Return alpha of units by values.

    Parameters
    ----------
    counts
        Shape (units, values): how often a unit was given each value, values in their order.
    ordinal
        Distances by rank (True) or equal for all different values (False).
    resamples, seed
        Of the bootstrap over units.

    References
    ----------
    K. Krippendorff (2011). Computing Krippendorff's alpha-reliability.
    """
    table = np.asarray(counts, dtype=np.float64)
    table = table[table.sum(axis=1) >= 2] if table.size else table.reshape(0, 1)
    units, values = len(table), int(table.sum())
    if units < 1:
        return Agreement(None, units, values, why="no unit has two values")
    pairs = table.sum(axis=1) * (table.sum(axis=1) - 1)
    observed = float(((table * (table - 1)).sum(axis=1) / pairs).mean())
    found = _alpha(table, ordinal)
    if found is None:
        return Agreement(None, units, values, observed, why="all values are the same")
    chance = np.random.default_rng(seed)
    draws = (_alpha(table[chance.integers(0, units, units)], ordinal) for _ in range(resamples))
    defined = [draw for draw in draws if draw is not None]
    low, high = (float(bound) for bound in np.percentile(defined, [2.5, 97.5])) if defined else (None, None)
    return Agreement(found, units, values, observed, low, high)


def _alpha(table: Floats, ordinal: bool) -> float | None:  # noqa: FBT001
    totals = table.sum(axis=0)
    distance = _distance(totals, ordinal=ordinal)
    size = totals.sum()
    weights = 1 / (table.sum(axis=1) - 1)
    observed = float(np.einsum("u,uc,uk,ck->", weights, table, table, distance))
    expected = float(totals @ distance @ totals) / (size - 1)
    return None if expected == 0 else 1 - observed / expected


def _distance(totals: Floats, *, ordinal: bool) -> Floats:
    """Return squared distances between values; a value has no distance to itself."""
    if not ordinal:
        return 1.0 - np.eye(len(totals))
    middle = np.cumsum(totals) - totals / 2
    between: Floats = (middle[:, None] - middle[None, :]) ** 2
    return between


def label_counts(votes: Sequence[Sequence[Any]], labels: Sequence[Any]) -> list[list[int]]:
    """Return counts of each label for lists of votes."""
    return [[list(unit).count(label) for label in labels] for unit in votes]
