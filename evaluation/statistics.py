"""Confidence intervals for means over questions, and tests of the difference between two systems.

numpy is imported inside the functions: importing it takes a sixth of a second, and scores alone don't need it.
"""
# ruff: noqa: PLC0415

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any, TypeVar

RESAMPLES = 1_000
PERMUTATIONS = 10_000
Values = Mapping[str, Sequence[float]]  # by measure, of each question in one order
_AT_ONCE = 4_000_000  # random numbers that are held at a time
_Key = TypeVar("_Key", bound=Hashable)


def mean_intervals(values: Values, *, resamples: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return the 95% percentile interval of each measure's mean, over questions drawn with replacement.

    If a measure is 0 of all questions, or 1 of all, the interval is Wilson's: drawing again shows no other value. The
    result is empty without resamples or questions.
    """
    import numpy as np

    rows = _matrix(values)
    if not rows.size or not resamples:
        return {}
    draw, shares = np.random.default_rng(seed), np.full(len(rows), 1 / len(rows))
    means = np.array([draw.multinomial(len(rows), shares) @ rows / len(rows) for _ in range(resamples)])
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return {
        measure: interval_of_extreme(set(rows[:, at].tolist()), len(rows)) or (float(low[at]), float(high[at]))
        for at, measure in enumerate(values)
    }


def interval_of_extreme(shares: Collection[float], of: int) -> tuple[float, float] | None:
    """Return Wilson's 95% interval if all shares are 0, or all are 1; None otherwise.

    Examples
    --------
    >>> [round(bound, 2) for bound in interval_of_extreme([0, 0, 0], 20)]
    [0.0, 0.16]
    """
    import numpy as np

    from measures.reliability import wilson

    if not of or set(shares) not in ({0}, {1}):
        return None
    low, high = wilson(np.array([float(next(iter(shares)))]), np.array([of]))
    return float(low[0]), float(high[0])


def ratio_interval(parts: Sequence[tuple[int, int]], *, resamples: int, seed: int) -> tuple[float, float] | None:
    """Return the 95% percentile interval of a share, over questions drawn with replacement.

    If all units are counted, or none is, the interval is Wilson's for as many units as there are questions.

    Parameters
    ----------
    parts
        For each question, the number of counted units and the number of all units (at least one).

    Returns
    -------
    tuple of float, or None
        None without resamples, or with fewer than two questions.
    """
    import numpy as np

    if len(parts) < 2 or not resamples:
        return None
    if extreme := interval_of_extreme([counted / of for counted, of in parts], len(parts)):
        return extreme
    rows, draw = np.array(parts, dtype=np.float64), np.random.default_rng(seed)
    sums = draw.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=resamples) @ rows
    low, high = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975))
    return float(low), float(high)


def randomisation_p(first: Values, second: Values, *, permutations: int, seed: int) -> dict[str, float]:
    """Return, by measure, the two-sided p of Fisher's paired randomization test on the difference of two means.

    The test flips the sign of each question's difference with probability one half. The observed data is one of the
    permutations, so p is never 0 (Smucker, Allan and Carterette 2007).
    """
    import numpy as np

    differences = _matrix(first) - _matrix(second)
    observed, draw = np.abs(differences.sum(axis=0)) - 1e-12, np.random.default_rng(seed)
    extreme, step = np.zeros(len(first)), max(1, _AT_ONCE // max(1, len(differences)))
    for begin in range(0, permutations, step):
        size = (min(step, permutations - begin), len(differences))
        signs = draw.integers(0, 2, size=size, dtype=np.int8) * 2.0 - 1
        extreme += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return {measure: float((1 + extreme[at]) / (1 + permutations)) for at, measure in enumerate(first)}


def holm(found: Mapping[_Key, float]) -> dict[_Key, float]:
    """Return p values corrected for their number by the method of Holm (1979)."""
    corrected: dict[_Key, float] = {}
    least = 0.0
    for place, (key, p) in enumerate(sorted(found.items(), key=lambda row: row[1])):
        least = max(least, min(1.0, p * (len(found) - place)))
        corrected[key] = least
    return corrected


def means(values: Values) -> dict[str, float]:
    """Return the mean of each measure; 0 without questions."""
    return {measure: sum(found) / len(found) if found else 0.0 for measure, found in values.items()}


def _matrix(values: Values) -> Any:
    """Return an array with one row per question and one column per measure."""
    import numpy as np

    return np.array(list(values.values()), dtype=np.float64).T
