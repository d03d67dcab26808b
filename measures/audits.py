"""The share of wrong labels, from a random sample judged by experts: strata, sample sizes, and the interval.

Items are grouped into strata by the doubt about their labels, since errors are concentrated among doubtful labels:
fewer judgments then give the same interval. The interval relies only on random sampling, not on a model of annotators.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from measures.judgments import Floats, Places
from measures.reliability import wilson

MOST_STRATA = 4
LEAST = 30  # judged of each stratum, or all there are
TAIL = 0.025  # of a 95% interval, at either end
LEAST_DOUBT, MOST_DOUBT = 0.05, 0.5  # models are too sure: even labels that nobody contests are wrong at times


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items with similar doubt: the number of items, of judged items, and of wrong labels among the judged."""

    size: int
    judged: int
    wrong: int


@dataclass(frozen=True, slots=True)
class LabelError:
    """The share of labels that experts disagree with, and its 95% interval."""

    share: float
    low: float
    high: float


def spread(doubts: Floats) -> Floats:
    """Return each item's share in the uncertainty of an estimate, from the probability that its label is wrong."""
    bounded = np.clip(doubts, LEAST_DOUBT, MOST_DOUBT)
    found: Floats = np.sqrt(bounded * (1 - bounded))
    return found


def strata_by_doubt(doubts: Floats) -> Places:
    """Return the stratum of each item, shape (items,): 0 for the least doubtful, and up to 3 for the most doubtful.

    Each stratum has about the same sum of `spread`, so the best sample takes about equally many items from each. Items
    of equal doubt are in the same stratum. Each stratum has at least 30 items if there are that many.

    Parameters
    ----------
    doubts
        The predicted probability that each label is wrong, shape (items,).

    References
    ----------
    W. G. Cochran (1977). Sampling Techniques, 3rd edition, section 5A.7.

    Examples
    --------
    >>> strata_by_doubt(np.array([0.01] * 400 + [0.4] * 100)).tolist()[::100]
    [0, 0, 0, 0, 1]
    """
    values, where, sizes = np.unique(doubts, return_inverse=True, return_counts=True)
    before = np.cumsum(sizes * spread(values))
    middles = before - sizes * spread(values) / 2
    places = np.minimum((middles / before[-1] * MOST_STRATA).astype(int), MOST_STRATA - 1)
    numbers, number, held = np.zeros(MOST_STRATA, dtype=np.int64), -1, float(LEAST)
    for place, items in enumerate(np.bincount(places, weights=sizes, minlength=MOST_STRATA)):
        if items and held >= LEAST:  # what would be too small is joined by the next
            number, held = number + 1, 0.0
        numbers[place] = number
        held += items
    if held < LEAST and number > 0:
        numbers[numbers == number] = number - 1
    found: Places = numbers[places][where]
    return found


def allocation(sizes: Sequence[int], spreads: Sequence[float], count: int) -> list[int]:
    """Return the number of items to draw from each stratum so that the interval is shortest (Neyman).

    Draws at least 30 items of each stratum, or all it has. The sum is ``count``, or as close as that allows.

    Parameters
    ----------
    spreads
        The mean `spread` of each stratum's items.

    References
    ----------
    J. Neyman (1934). On the two different aspects of the representative method. Journal of the Royal Statistical
    Society 97(4).

    Examples
    --------
    >>> allocation([900, 100, 20], [0.2, 0.5, 0.5], 200)
    [141, 39, 20]
    """
    size, weight = np.array(sizes), np.array(sizes) * np.array(spreads)
    least = np.minimum(size, LEAST)
    drawn, is_open = least.astype(float), np.ones(len(size), dtype=bool)
    while is_open.any():
        share = (count - drawn[~is_open].sum()) * weight / weight[is_open].sum()
        too_few, too_many = is_open & (share < least), is_open & (share > size)
        bound = too_few if too_few.any() else too_many
        if not bound.any():
            drawn[is_open] = share[is_open]
            break
        drawn[bound] = np.where(too_few, least, size)[bound]
        is_open &= ~bound
    whole = np.floor(drawn + 1e-9).astype(int)
    rest = min(count, int(size.sum())) - int(whole.sum())
    for place in np.argsort(whole - drawn, kind="stable")[: max(rest, 0)]:
        whole[place] += whole[place] < size[place]
    return [int(one) for one in whole]


def label_error(strata: Sequence[Stratum]) -> LabelError:
    """Return the share of wrong labels among the items of all strata, with its 95% interval.

    Computes Wilson's interval at the effective sample size: the number of items that a simple random sample would need
    for the same variance. Half an error is added to each stratum for the variance, so that a sample without errors
    doesn't give an interval of zero width. A finite population correction accounts for small strata.

    If few labels of a stratum are not judged, each of them changes the share noticeably, which this interval ignores.
    The interval is therefore extended to the exact (hypergeometric, mid-P) limits of each single stratum, with the
    other strata at their estimates.

    Raises
    ------
    ValueError
        A stratum has no judged items.

    References
    ----------
    E. L. Korn and B. I. Graubard (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology 24(2).

    N. Dean and M. Pagano (2015). Evaluating confidence interval methods for binomial proportions in clustered surveys.
    Journal of Survey Statistics and Methodology 3(4).

    Examples
    --------
    >>> found = label_error([Stratum(900, 100, 2), Stratum(100, 50, 20)])
    >>> round(found.share, 3), round(found.low, 3), round(found.high, 3)
    (0.058, 0.037, 0.095)
    >>> round(label_error([Stratum(10_000, 60, 0)]).high, 3)
    0.06
    """
    if any(one.judged < 1 for one in strata):
        raise ValueError("a stratum of which nothing was judged leaves the error open")
    size, judged, wrong = (
        np.array([getattr(one, name) for one in strata], dtype=float) for name in ("size", "judged", "wrong")
    )
    weight = size / size.sum()
    share = float((weight * wrong / judged).sum())
    smoothed = (wrong + 0.5) / (judged + 1)
    variance = (weight**2 * smoothed * (1 - smoothed) / judged * (1 - judged / size)).sum()
    if variance <= 0:  # every item was judged
        return LabelError(share, share, share)
    together = (weight * smoothed).sum()
    low, high = wilson(np.array([share]), np.array([together * (1 - together) / variance]))
    limits = np.array([_limits(one) for one in strata])
    alone = share + (limits - (size * wrong / judged)[:, None]) / size.sum()
    certain = float(wrong.sum() / size.sum())  # these were seen
    return LabelError(
        share, max(certain, min(float(low[0]), float(alone[:, 0].min()))), max(float(high[0]), float(alone[:, 1].max()))
    )


def _limits(stratum: Stratum) -> tuple[int, int]:
    """Return the fewest and most wrong labels in a stratum, by its exact 95% interval (mid-P)."""
    from scipy.stats import hypergeom  # type: ignore[import-untyped]  # noqa: PLC0415  half a second, seldom wanted

    def fewer(total: int) -> float:
        """Return P(fewer errors than seen) plus half of P(as many as seen), if ``total`` labels are wrong."""
        seen = [stratum.wrong - 1, stratum.wrong]
        return float(hypergeom.cdf(seen, stratum.size, total, stratum.judged).mean())

    possible = range(stratum.wrong, stratum.size - (stratum.judged - stratum.wrong) + 1)
    fewest = bisect_left(possible, TAIL - 1, key=lambda total: -fewer(total))
    beyond = bisect_right(possible, -TAIL, key=lambda total: -fewer(total))
    return possible[fewest], possible[beyond - 1]
