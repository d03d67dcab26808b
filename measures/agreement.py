"""Krippendorff's alpha, with an interval that generalizes to other items and other annotators.

K. Krippendorff (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from measures.judgments import Floats, Judgments, Places, effective_number

FEW_ITEMS, FEW_ANNOTATORS = 200, 30  # with fewer, intervals are too narrow
TOO_FEW = ("no item has two judgments", "only one item has two judgments")
_MOST_CELLS = 4_000_000  # of an array at once
_MOST_OF_PACKAGE = 2**25  # cells of the arrays (items × labels × labels) that the package makes


class Level(StrEnum):
    """The level of measurement, which defines the distance between two labels."""

    NOMINAL = "nominal"  # the same or not
    ORDINAL = "ordinal"  # by how many judgments lie between them
    INTERVAL = "interval"  # by their difference
    RATIO = "ratio"  # by their difference in proportion to their sum


_MEASURED = (Level.INTERVAL, Level.RATIO)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Alpha and the data behind it; ``alpha`` is None if it is undefined, and ``why`` gives the reason.

    Attributes
    ----------
    units, values, annotators
        The numbers of items with at least two judgments, of their judgments, and of the annotators who made those.
    observed
        The share of pairs of judgments of an item that are equal, averaged over items.
    low, high
        An interval for the alpha of other items by other annotators of the same kinds. Both are None if there is no
        interval; ``warning`` gives the reason.
    warning
        The reason not to trust the interval, if any.
    """

    alpha: float | None
    units: int
    values: int
    annotators: int = 0
    observed: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    warning: str = ""


def alpha(judgments: Judgments, *, level: Level = Level.NOMINAL, confidence: float = 0.95) -> Agreement:
    """Return alpha and an interval.

    Parameters
    ----------
    level
        The level of measurement. The labels of ``interval`` and ``ratio`` must be numbers, those of ``ordinal`` numbers
        or labels whose order was stated.

    Raises
    ------
    LabelsWithoutOrder

    Notes
    -----
    Items and annotators are both treated as samples. The variance is the variance from leaving out an item, plus that
    from leaving out an annotator, minus that from leaving out a judgment, which both include (a two-way jackknife,
    after A. B. Owen (2007), The pigeonhole bootstrap, Annals of Applied Statistics 1(2), and A. C. Cameron, J. B.
    Gelbach and D. L. Miller (2011), Robust inference with multiway clustering, Journal of Business & Economic
    Statistics 29(2)). The interval uses Student's t with as many degrees of freedom as the smaller sample allows, by
    effective numbers: a few people often give most of the judgments. A bootstrap over items alone reaches only about
    half of its nominal coverage.

    Examples
    --------
    >>> from measures.judgments import judgments_of
    >>> rows = [(1, "ann", 1), (1, "bo", 1), (2, "ann", 2), (2, "bo", 2), (3, "ann", 1), (3, "bo", 2)]
    >>> round(alpha(judgments_of(rows)).alpha, 3)
    0.444
    """
    if level is not Level.NOMINAL:
        judgments.check_order()
    counts = judgments.counts()
    paired = counts.sum(axis=1) >= 2
    inside = paired[judgments.item] if len(judgments) else np.zeros(0, dtype=bool)
    units, values = int(paired.sum()), int(inside.sum())
    annotators = len(np.unique(judgments.annotator[inside]))
    if units < 2:
        return Agreement(None, units, values, annotators, why=TOO_FEW[units])
    sums = _Sums.of(counts)
    coefficient = partial(_alpha, distance=_distance(judgments.labels, level))
    found = _of_all(judgments.labels, counts, level, float(coefficient(sums.pairs, sums.totals)))
    observed = _observed(counts[paired])
    if np.isnan(found):
        return Agreement(None, units, values, annotators, observed, why="all labels are the same")
    half, warning = _half_width(judgments.part(inside), sums, coefficient, confidence)
    if half is None:
        return Agreement(found, units, values, annotators, observed, warning=warning)
    return Agreement(found, units, values, annotators, observed, found - half, min(1.0, found + half), "", warning)


def alpha_alone(judgments: Judgments, level: Level) -> float | None:
    """Return alpha without its interval, which takes most of the time; None if alpha is undefined.

    Raises
    ------
    LabelsWithoutOrder
    """
    if level is not Level.NOMINAL:
        judgments.check_order()
    counts = judgments.counts()
    if int((counts.sum(axis=1) >= 2).sum()) < 2:
        return None
    sums = _Sums.of(counts)
    own = float(_alpha(sums.pairs, sums.totals, distance=_distance(judgments.labels, level)))
    found = _of_all(judgments.labels, counts, level, own)
    return None if np.isnan(found) else found


def _of_all(labels: tuple[Any, ...], counts: Floats, level: Level, own: float) -> float:
    """Return alpha as computed by the `krippendorff` package, or from our own sums if undefined or too large for it.

    The package has no jackknife, so intervals are computed from our sums, which agree except for rounding.
    """
    if np.isnan(own) or counts.size * counts.shape[1] > _MOST_OF_PACKAGE:
        return own
    import krippendorff  # noqa: PLC0415  loaded where a coefficient is asked for

    domain = np.array([float(label) for label in labels]) if level in _MEASURED else np.arange(len(labels))
    return float(krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=level.value))


def coincidences(judgments: Judgments) -> Floats:
    """Return how often two annotators of one item gave each pair of labels, symmetric, shape (labels, labels).

    Each pair of an item with m judgments has the weight 1 / (m - 1), so that each judgment counts once (Krippendorff's
    coincidence matrix). Items with one judgment are ignored.
    """
    return _Sums.of(judgments.counts()).pairs


def row_shares(pairs: Floats) -> Floats:
    """Return a matrix of counts divided by its row sums, shape (labels, labels); a row without counts stays zero.

    Examples
    --------
    >>> row_shares(np.array([[3.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [0.0, 0.0]]
    """
    totals = pairs.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(pairs, totals, out=np.zeros_like(pairs), where=totals > 0)
    return shares


def _observed(counts: Floats) -> float:
    sizes = counts.sum(axis=1)
    return float(((counts * (counts - 1)).sum(axis=1) / (sizes * (sizes - 1))).mean())


class _Sums(NamedTuple):
    """The sums that alpha is computed from, in total and for each distinct row of counts.

    ``pairs``: how often each pair of labels occurs in an item, divided by the item's number of judgments minus one
    (labels × labels); ``totals``: how often each label occurs in items with at least two judgments.
    """

    rows: Floats
    row_of: Places  # of each item
    items: Places  # with each row
    pairs: Floats
    totals: Floats

    @classmethod
    def of(cls, counts: Floats) -> "_Sums":
        rows, row_of, items = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
        pairs, totals = np.zeros(rows.shape[1:] * 2), np.zeros(rows.shape[1])
        for part in _parts(len(rows), rows.shape[1] ** 2):
            some_pairs, some_totals = _of_rows(rows[part])
            pairs += np.tensordot(items[part].astype(float), some_pairs, 1)
            totals += items[part] @ some_totals
        return cls(rows, row_of.reshape(-1), items, pairs, totals)


def _of_rows(rows: Floats) -> tuple[Floats, Floats]:
    """Return the pairs and totals of rows of counts; both are zero for a row with fewer than two judgments."""
    sizes = rows.sum(axis=1)
    weights = np.where(sizes >= 2, 1 / np.maximum(sizes - 1, 1), 0.0)
    pairs = rows[:, :, None] * rows[:, None, :]
    own = np.arange(rows.shape[1])
    pairs[:, own, own] -= rows
    return pairs * weights[:, None, None], rows * (sizes >= 2)[:, None]


def _parts(length: int, cells: int) -> Iterator[slice]:
    """Yield slices of an array so that the cells computed from a slice's rows fit in memory."""
    step = max(1, _MOST_CELLS // max(1, cells))
    for begin in range(0, length, step):
        yield slice(begin, begin + step)


def _alpha(pairs: Floats, totals: Floats, *, distance: Callable[[Floats], Floats]) -> Any:
    """Return alpha for arrays of sums (with any leading axes); nan where it is undefined."""
    between = distance(totals)
    observed = (pairs * between).sum(axis=(-1, -2))
    expected = np.einsum("...c,...ck,...k->...", totals, between, totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - (totals.sum(axis=-1) - 1) * observed / expected, np.nan)


def _distance(labels: tuple[Any, ...], level: Level) -> Callable[[Floats], Floats]:
    """Return a function that computes squared distances of labels, shape (…, labels, labels), from their totals."""
    if level is Level.ORDINAL:
        return _ordinal
    if level is Level.NOMINAL:
        fixed = 1.0 - np.eye(len(labels))
    else:
        values = np.array([float(label) for label in labels])
        fixed = (values[:, None] - values[None, :]) ** 2
        if level is Level.RATIO:
            sums = (values[:, None] + values[None, :]) ** 2
            fixed = np.divide(fixed, sums, out=np.zeros_like(fixed), where=sums > 0)
    return lambda totals: np.broadcast_to(fixed, (*totals.shape, totals.shape[-1]))


def _ordinal(totals: Floats) -> Floats:
    middle = np.cumsum(totals, axis=-1) - totals / 2
    between: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return between


def _half_width(
    judgments: Judgments, sums: _Sums, coefficient: Callable[[Floats, Floats], Any], confidence: float
) -> tuple[float | None, str]:
    """Return half of the interval's width and a warning; None if alpha depends on one item, annotator or judgment."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

    size = sums.rows.shape[1]
    cells = sums.row_of[judgments.item] * size + judgments.label  # what row and label a judgment is
    used, cell, times = np.unique(cells, return_inverse=True, return_counts=True)
    paired = sums.rows.sum(axis=1) >= 2
    items = [_without(sums, sums.rows[paired][part], None, coefficient) for part in _parts(int(paired.sum()), size**2)]
    single = [
        _without(sums, sums.rows[used[part] // size], used[part] % size, coefficient)
        for part in _parts(len(used), size**2)
    ]
    people = coefficient(*_without_people(judgments, sums, used, cell, size))
    counted = [
        (np.concatenate(items), sums.items[paired]),
        (people, np.ones(len(people))),
        (np.concatenate(single), times),
    ]
    if any(np.isnan(values).any() or weights.sum() < 2 for values, weights in counted):
        return None, "everything depends on one item, annotator, or judgment, so there is no interval"
    by_item, by_annotator, by_judgment = (_variance(values, weights) for values, weights in counted)
    variance = max(by_item + by_annotator - by_judgment, by_item, by_annotator)
    units, annotators = int(counted[0][1].sum()), len(people)
    freedom = max(1.0, min(effective_number(judgments.item), effective_number(judgments.annotator)) - 1)
    warning = ""
    if units < FEW_ITEMS or annotators < FEW_ANNOTATORS:
        warning = f"from {units} items and {annotators} annotators: with fewer than {FEW_ITEMS} or {FEW_ANNOTATORS} the interval is too narrow"
    return float(stdtrit(freedom, 0.5 + confidence / 2) * np.sqrt(variance)), warning


def _variance(values: Floats, weights: Floats) -> float:
    """Return the jackknife variance from the coefficients without each of n units, where equal ones are grouped."""
    n = weights.sum()
    mean = (weights * values).sum() / n
    return float((n - 1) / n * (weights * (values - mean) ** 2).sum())


def _lost(rows: Floats, labels: Places | None) -> tuple[Floats, Floats]:
    """Return the pairs and totals to subtract when a row, or one judgment of a label in each row, is left out."""
    pairs, totals = _of_rows(rows)
    if labels is None:
        return pairs, totals
    fewer = rows.copy()
    fewer[np.arange(len(rows)), labels] -= 1
    left_pairs, left_totals = _of_rows(fewer)
    return pairs - left_pairs, totals - left_totals


def _without(sums: _Sums, rows: Floats, labels: Places | None, coefficient: Callable[[Floats, Floats], Any]) -> Floats:
    """Return the coefficients when one item with each row of counts, or one judgment in the row, is left out."""
    pairs, totals = _lost(rows, labels)
    found: Floats = coefficient(sums.pairs - pairs, sums.totals - totals)
    return found


def _without_people(judgments: Judgments, sums: _Sums, used: Places, cell: Places, size: int) -> tuple[Floats, Floats]:
    """Return the sums without each annotator who judged, shape (annotators, …); they judge an item at most once."""
    _, person = np.unique(judgments.annotator, return_inverse=True)
    people = int(person.max()) + 1
    pairs, totals = np.zeros((people, size * size)), np.zeros((people, size))
    for part in _parts(len(used), size**2):
        lost_pairs, lost_totals = _lost(sums.rows[used[part] // size], used[part] % size)
        inside = (cell >= part.start) & (cell < part.stop)
        who, what = person[inside], cell[inside] - part.start
        for into, lost in ((pairs, lost_pairs.reshape(len(lost_pairs), -1)), (totals, lost_totals)):
            for column in range(lost.shape[1]):
                into[:, column] += np.bincount(who, weights=lost[what, column], minlength=people)
    return sums.pairs - pairs.reshape(people, size, size), sums.totals - totals
