"""The error of labels from a stratified sample: what is drawn, and how often its interval holds the truth."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest

from measures.audits import LEAST, Stratum, allocation, label_error, spread, strata_by_doubt

RUNS = 1_000


def world(chance):
    """Return the sizes of strata, what is predicted of each, and how many labels of each are wrong."""
    count = int(chance.integers(1, 6))
    sizes = np.round(np.exp(chance.uniform(np.log(20), np.log(20_000), count))).astype(int)
    predicted = np.sort(chance.beta(1, 6, count))
    true = [
        np.zeros(count),
        predicted * chance.uniform(0.3, 1.5),
        chance.beta(0.5, 15, count),
        np.minimum(predicted + chance.uniform(0, 0.3), 0.9),
    ][int(chance.integers(0, 4))]
    return sizes, predicted, chance.binomial(sizes, np.minimum(true, 1))


def audited(chance, sizes, predicted, wrong):
    """Draw and judge a sample; return the estimate, and whether an error was seen."""
    drawn = allocation([int(one) for one in sizes], list(spread(predicted)), int(chance.integers(60, 600)))
    seen = chance.hypergeometric(wrong, sizes - wrong, drawn)
    strata = [Stratum(int(size), n, int(bad)) for size, n, bad in zip(sizes, drawn, seen, strict=True)]
    return label_error(strata), bool(seen.sum())


@pytest.mark.slow
def test_the_interval_holds_the_truth_as_often_as_it_says():
    """Over worlds of one to five strata, small ones among them, with and without errors."""
    chance, held = np.random.default_rng(20261123), {"all": [], "errors": [], "small": [], "none seen": []}
    for _ in range(RUNS):
        sizes, predicted, wrong = world(chance)
        found, saw = audited(chance, sizes, predicted, wrong)
        holds = found.low - 1e-12 <= wrong.sum() / sizes.sum() <= found.high + 1e-12
        held["all"].append(holds)
        if wrong.sum():  # where nothing is wrong, every interval holds the truth
            held["errors"].append(holds)
            held["small"] += [holds] * bool((sizes < LEAST).any())
            held["none seen"] += [holds] * (not saw)
    rates = {name: sum(found) / len(found) for name, found in held.items()}
    assert 0.93 <= rates["all"] <= 0.98, rates
    assert 0.93 <= rates["errors"] <= 0.98, rates
    assert 0.93 <= rates["small"] <= 1, rates
    assert min(len(held["small"]), len(held["none seen"])) >= 10


def chances(size, wrong, judged):
    """Return the chance of each number of wrong labels among those that are judged."""
    seen = range(max(0, judged - (size - wrong)), min(judged, wrong) + 1)
    return {bad: comb(wrong, bad) * comb(size - wrong, judged - bad) / comb(size, judged) for bad in seen}


def coverage_of(shape, wrong):
    """Return how often the interval holds the truth, over every draw of strata of (size, judged)."""
    truth, held = sum(wrong) / sum(size for size, _ in shape), 0.0
    outcomes = [chances(size, bad, judged).items() for (size, judged), bad in zip(shape, wrong, strict=True)]
    for seen in product(*outcomes):
        strata = [Stratum(size, judged, bad) for (size, judged), (bad, _) in zip(shape, seen, strict=True)]
        found = label_error(strata)
        held += prod(chance for _, chance in seen) * (found.low - 1e-12 <= truth <= found.high + 1e-12)
    return held


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        ([(32, 30)], 0.95),
        ([(40, 38)], 0.95),
        ([(100, 95)], 0.95),
        ([(40, 30), (8, 8)], 0.95),
        ([(40, 30), (40, 30)], 0.94),
        ([(35, 30), (60, 30), (8, 8)], 0.9),
    ],
)
def test_a_few_labels_that_nobody_judged_are_whole_ones(shape, least):
    """Whatever few labels are wrong: the interval of an audit that judged nearly all of a campaign knows of the others."""
    for wrong in product(*(range(min(4, size) + 1) for size, _ in shape)):
        assert coverage_of(shape, wrong) >= least, wrong


def test_nothing_below_what_was_seen_and_nothing_above_what_can_be():
    found = label_error([Stratum(32, 30, 3)])
    assert found.low == pytest.approx(3 / 32)
    assert 4 / 32 <= found.high <= 5 / 32


@pytest.mark.parametrize("size", [40, 400, 4_000])
def test_no_errors_are_no_certainty(size):
    found = label_error([Stratum(size, LEAST, 0)])
    assert found.share == found.low == 0
    assert 0.02 < found.high < 0.2


def test_where_everything_was_judged_the_share_is_exact():
    found = label_error([Stratum(50, 50, 4), Stratum(20, 20, 1)])
    assert (found.share, found.low, found.high) == (pytest.approx(5 / 70),) * 3


def test_a_stratum_of_which_nothing_was_judged_leaves_the_error_open():
    with pytest.raises(ValueError, match="nothing was judged"):
        label_error([Stratum(50, 0, 0)])


def test_doubtful_items_are_drawn_more_often_and_every_stratum_enough():
    chance = np.random.default_rng(5)
    doubts = np.sort(chance.beta(0.3, 4, 5_000))
    strata = strata_by_doubt(doubts)
    assert (np.diff(strata) >= 0).all()
    sizes = np.bincount(strata)
    assert len(sizes) == 4
    drawn = allocation(list(sizes), [float(spread(doubts[strata == place]).mean()) for place in range(4)], 400)
    assert sum(drawn) == 400
    assert min(drawn) >= LEAST
    rates = np.array(drawn) / sizes
    assert (np.diff(rates) > 0).all()
    assert max(drawn) - min(drawn) < 60  # strata are cut so that the best draw takes about as many of each


@pytest.mark.parametrize(
    ("doubts", "sizes"),
    [
        ([0.1] * 25, [25]),
        ([0.01] * 100 + [0.5] * 10, [110]),
        ([0.01] * 20 + [0.5] * 100, [120]),
        ([0.0] * 60 + [0.5] * 60, [60, 60]),
        ([0.0] * 10 + [0.2] * 25 + [0.5] * 31, [35, 31]),
    ],
)
def test_no_stratum_is_too_small_to_be_judged_enough(doubts, sizes):
    assert np.bincount(strata_by_doubt(np.array(doubts))).tolist() == sizes


@pytest.mark.parametrize("count", [60, 90, 200, 1_000, 5_000])
def test_what_is_drawn_sums_up(count):
    sizes = [900, 100, 20, 35]
    drawn = allocation(sizes, [0.2, 0.5, 0.4, 0.3], count)
    assert all(min(LEAST, size) <= n <= size for n, size in zip(drawn, sizes, strict=True))
    assert sum(drawn) == min(max(count, 20 + 30 * 3), sum(sizes))
