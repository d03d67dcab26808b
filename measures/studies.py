"""The studies of the Natural Questions paper (Kwiatkowski et al. 2019, sections 3.3 to 5.2) on collected annotations.

An item is a row of answers, one per annotator, all of different people; the first, drawn at random, is its reference.
An answer is any comparable value, or None if the annotator found no answer.

Every number here is a share or a ratio of sums over items, which are a random sample. Its 95% interval is Wilson's at
the sample size at which a simple share would have the same variance (linearization, as in survey sampling), so the
interval works near 0 and 1. It applies to other items, answered by other annotators of the same kind.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import pairwise
from math import comb, isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from measures.judgments import Floats
from measures.reliability import Z_95, wilson

if TYPE_CHECKING:
    import pandas as pd

Answers = Sequence[Hashable | None]
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # Figure 4; each holds its upper end
RANKS = 5
PARTITIONS = 200
ADDED = 0.5  # of an item, half of it at each extreme, when a variance is computed


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95% interval, and its number of items; nan without items."""

    share: float
    low: float
    high: float
    items: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two shares of the same items, with its 95% interval and the number of items."""

    difference: float
    low: float
    high: float
    items: int


def as_json(found: Any) -> Any:
    """Return a study as plain values: shares as dictionaries, unknown values as None."""
    if is_dataclass(found) and not isinstance(found, type):
        return as_json(asdict(found))
    if isinstance(found, dict):
        return {str(key): as_json(value) for key, value in found.items()}
    if isinstance(found, list | tuple):
        return [as_json(value) for value in found]
    return None if isinstance(found, float) and isnan(found) else found


def study_frame(found: Any) -> "pd.DataFrame":
    """Return a study as a table: one row per number with its path, and with bounds and items for a share."""
    import pandas as pd  # noqa: PLC0415  half a second that a printed study does not need

    return pd.DataFrame(list(_rows_of(found)), columns=["name", "value", "low", "high", "items"])


def _rows_of(found: Any, path: str = "") -> Iterator[tuple[str, Any, Any, Any, Any]]:
    if isinstance(found, Share):
        yield path, found.share, found.low, found.high, found.items
    elif isinstance(found, dict | list | tuple):
        named = found.items() if isinstance(found, dict) else enumerate(found)
        for name, value in named:
            yield from _rows_of(value, f"{path}.{name}" if path else str(name))
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield path, found, None, None, None


def usual_alpha(predicting: int) -> int:
    """Return from how many answers on the super-annotator answers: 8 of 20 as in the paper, or in proportion."""
    return round(0.4 * predicting)


def share_of(parts: ArrayLike, wholes: ArrayLike | None = None) -> Share:
    """Return the sum of ``parts`` divided by the sum of ``wholes``, both of shape (items,); without wholes, the mean.

    For the variance, half an item is added, a quarter at each extreme, so that identical items don't give an interval
    of zero width. Items whose whole is 0 are ignored.

    Parameters
    ----------
    parts
        Values between 0 and the item's whole.

    References
    ----------
    E. L. Korn and B. I. Graubard (1998), as in `measures.audits`; the variance is that of a ratio of sums
    (W. G. Cochran, 1977, section 6.3).

    Examples
    --------
    >>> found = share_of([1, 0, 1, 1], [1, 1, 1, 1])
    >>> found.share, round(found.low, 2), round(found.high, 2), found.items
    (0.75, 0.27, 0.96, 4)
    """
    part = np.asarray(parts, dtype=float)
    whole = np.ones_like(part) if wholes is None else np.asarray(wholes, dtype=float)
    part, whole = part[whole > 0], whole[whole > 0]
    items, total = len(part), float(whole.sum())
    if not items:
        return Share(float("nan"), float("nan"), float("nan"), 0)
    share, mean = float(part.sum()) / total, total / items
    added = ADDED * mean
    middle = (float(part.sum()) + added / 2) / (total + added)
    squares = float(((part - middle * whole) ** 2).sum()) + added * mean * (middle**2 + (1 - middle) ** 2) / 2
    size = middle * (1 - middle) * (total + added) ** 2 / squares
    if items > 1:
        size *= (items - 1) / items
    low, high = wilson(np.array([share]), np.array([size]))
    return Share(share, min(share, float(low[0])), max(share, float(high[0])), items)


def paired_difference(first: ArrayLike, second: ArrayLike) -> Difference:
    """Return the share of items where the first is right minus the share where the second is, on the same items.

    The interval has one item added to both kinds of disagreement, so it has a width even if nobody ever differs.

    Parameters
    ----------
    first, second
        Whether each was right on each item, both of shape (items,), at least one item.

    References
    ----------
    D. G. Bonett and R. M. Price (2012). Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data. Journal of Educational and Behavioral Statistics 37.

    Examples
    --------
    >>> found = paired_difference([1, 1, 1, 0], [1, 0, 1, 1])
    >>> found.difference, round(found.low, 2), round(found.high, 2)
    (0.0, -0.65, 0.65)
    """
    one, other = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    items, better, worse = len(one), int((one & ~other).sum()), int((other & ~one).sum())
    up, down = (better + 1) / (items + 2), (worse + 1) / (items + 2)
    half = Z_95 * sqrt((up + down - (up - down) ** 2) / (items + 2))
    difference = (better - worse) / items
    low, high = min(difference, up - down - half), max(difference, up - down + half)
    return Difference(difference, max(-1.0, low), min(1.0, high), items)


def precision(grades: Sequence[str], good: Sequence[str], order: Sequence[str]) -> dict[str, Any]:
    """Return the share of each grade among judged references, and of precise ones (Ψ): section 4.3, Table 2.

    Parameters
    ----------
    grades
        The experts' consensus on each non-null reference.
    good
        The grades that count as precise: correct, and correct but debatable.
    """
    given = np.array(grades, dtype=object)
    return {
        "n": len(grades),
        "psi": share_of(np.isin(given, list(good))),
        "grades": {grade: share_of(given == grade) for grade in order},
    }


def non_null(items: Sequence[Answers], *, without_reference: bool = False) -> list[float]:
    """Return μ of each item: the share of its annotators who found an answer (section 4.4).

    The paper uses all 25 annotations. The reference is one of these, and was chosen because it is an answer: without
    it, μ is the share among the others.
    """
    first = 1 if without_reference else 0
    return [sum(answer is not None for answer in answers[first:]) / len(answers[first:]) for answers in items]


def by_agreement(shares: Sequence[float], grades: Sequence[str], order: Sequence[str]) -> list[dict[str, Any]]:
    """Return, for each interval of μ, the share of items in it, and the share of each grade among those: Figure 4."""
    mu, given = np.array(shares), np.array(grades, dtype=object)
    rows = []
    for above, to in pairwise(BINS):
        inside = (mu > above) & (mu <= to)
        if above == 0:
            inside |= mu == 0  # nobody but the reference: only where that is left out
        row = {grade: share_of(inside & (given == grade)) for grade in order}
        rows.append({"above": above, "to": to, "all": share_of(inside), "grades": row})
    return rows


def coverage(items: Sequence[Answers], ranks: int = RANKS) -> list[Share]:
    """Return the share of all non-null answers among the one, two, … most frequent of their item (section 4.4)."""
    counts = [sorted(Counter(one for one in answers if one is not None).values(), reverse=True) for answers in items]
    wholes = [sum(found) for found in counts]
    return [share_of([sum(found[:rank]) for found in counts], wholes) for rank in range(1, ranks + 1)]


def distinct(items: Sequence[Answers]) -> dict[int, int]:
    """Return the number of items by their number of distinct non-null answers."""
    return dict(sorted(Counter(len({one for one in answers if one is not None}) for answers in items).items()))


def bounds(
    items: Sequence[Answers],
    *,
    references: int = 5,
    beta: int = 2,
    alpha: int = 8,
    partitions: int = PARTITIONS,
    seed: int = 0,
    system: Answers | None = None,
) -> dict[str, Any]:
    """Return human performance by the measure of section 5.1: one annotator, and the super-annotator for each α.

    Each partition draws ``references`` annotations of an item at random as references and predicts from the others; the
    results are summed over all partitions. Choosing the best α on the same data is optimistic: the paper's α is 8 of
    20.

    Parameters
    ----------
    items
        Items with more answers than ``references``, all with the same number of answers.
    alpha
        The number of predicting annotations with an answer from which the super-annotator answers. With fewer it
        predicts null; otherwise the most frequent answer. In a tie it is right in part: as often as an answer drawn from
        those that are tied.
    system
        A system's answer to each item, None for null, compared with the same references.

    Returns
    -------
    dict
        ``single`` and ``super`` with precision, recall and f1; ``sweep``, the f1 for each α from 0 to the number of
        predicting annotations; ``partitions``; with a system, ``system`` like the first two.
    """
    predicting = len(items[0]) - references
    chance = np.random.default_rng(seed)
    said = system if system is not None else [None] * len(items)
    found = [
        _item_counts(answers, one, references, beta, partitions, chance)
        for answers, one in zip(items, said, strict=True)
    ]
    single, swept, own = (np.array(part) for part in zip(*found, strict=True))
    return {
        "single": precision_recall_f1(single),
        "super": precision_recall_f1(swept[:, alpha]),
        "alpha": alpha,
        "partitions": partitions,
        "sweep": [precision_recall_f1(swept[:, threshold])["f1"] for threshold in range(predicting + 1)],
        **({"system": precision_recall_f1(own)} if system is not None else {}),
    }


def _item_counts(
    answers: Answers, system: Hashable | None, references: int, beta: int, partitions: int, chance: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return each item's counts of correct (h of section 5.1), given, and wanted answers, as means over partitions.

    If at least β references are not null, a correct answer must equal one of them; otherwise it must be null.

    Returns
    -------
    tuple
        For one annotator, shape (3,); for the super-annotator at each α, shape (predicting annotations + 1, 3); for a
        system, shape (3,).
    """
    codes = {answer: code for code, answer in enumerate(dict.fromkeys(one for one in answers if one is not None))}
    given = np.array([codes.get(one, -1) if one is not None else -1 for one in answers])
    order = chance.permuted(np.tile(np.arange(len(answers)), (partitions, 1)), axis=1)
    gold, others = given[order[:, :references]], given[order[:, references:]]
    in_gold = np.stack([(gold == code).any(axis=1) for code in range(len(codes))] or [np.zeros(partitions, bool)], 1)
    votes = np.stack([(others == code).sum(axis=1) for code in range(len(codes))] or [np.zeros(partitions)], 1)
    is_wanted, found = (gold >= 0).sum(axis=1) >= beta, (others >= 0).sum(axis=1)
    single = ((votes * in_gold).sum(axis=1) * is_wanted / others.shape[1]).mean()
    # Not the first one in order of appearance: that order holds the references too, and favors their answers.
    best = votes == votes.max(axis=1, keepdims=True)
    best_is_right = (best & in_gold).sum(axis=1) / best.sum(axis=1) * is_wanted
    answered = (found[:, None] >= np.arange(others.shape[1] + 1)) & (found[:, None] > 0)
    swept = np.empty((others.shape[1] + 1, 3))
    swept[:, 0] = (answered * best_is_right[:, None]).mean(axis=0)
    swept[:, 1] = answered.mean(axis=0)
    swept[:, 2] = is_wanted.mean()
    is_right = is_wanted & in_gold[:, codes[system]] if system in codes else np.zeros(partitions, bool)
    own = np.array([is_right.mean(), float(system is not None), is_wanted.mean()])
    return np.array([single, found.mean() / others.shape[1], is_wanted.mean()]), swept, own


def precision_recall_f1(counts: Floats) -> dict[str, Share]:
    """Return precision, recall and F1 of summed counts, shape (items, 3): each is a ratio of sums over items."""
    right, given, wanted = counts[:, 0], counts[:, 1], counts[:, 2]
    return {
        "precision": share_of(right, given),
        "recall": share_of(right, wanted),
        "f1": share_of(right, (given + wanted) / 2),
    }


def chance_of_null(null: float, *, references: int = 5, beta: int = 2) -> float:
    """Return the probability that null is right: fewer than β of the references are not null (footnote 11).

    Parameters
    ----------
    null
        The probability that an annotator finds no answer.

    Examples
    --------
    >>> round(chance_of_null(0.8), 4)
    0.7373
    """
    return sum(comb(references, n) * (1 - null) ** n * null ** (references - n) for n in range(beta))


def chance_of_answer(best: float, null: float, *, references: int = 5, beta: int = 2) -> float:
    """Return the probability that an answer is right which annotators give with probability ``best`` (footnote 11).

    The answer is right if at least β of the references are not null, and one of them is this answer.

    Examples
    --------
    >>> round(chance_of_answer(0.2, 0.8), 4)
    0.2627
    """
    other = max(0.0, 1 - best - null)
    without = sum(comb(references, n) * other**n * null ** (references - n) for n in range(beta, references + 1))
    return 1 - chance_of_null(null, references=references, beta=beta) - without


def threshold(null: float, *, references: int = 5, beta: int = 2) -> float | None:
    """Return the lowest probability at which the best answer is a better prediction than null; None if it never is.

    Examples
    --------
    >>> threshold(0.9) is None
    True
    >>> round(threshold(0.5), 3)
    0.044
    """
    wanted = chance_of_null(null, references=references, beta=beta)
    low, high = 0.0, 1 - null
    if chance_of_answer(high, null, references=references, beta=beta) < wanted:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        reached = chance_of_answer(middle, null, references=references, beta=beta) >= wanted
        low, high = (low, middle) if reached else (middle, high)
    return high
