"""Plans of rankings: the planned number of items has the stated power."""

import numpy as np
import pytest

from measures.ranking import Pair, PowerTest, items_needed, pairs_of, wrong_by_majority
from measures.rectified import LEAST, Board
from tests.measures.ranking_worlds import WORLDS, is_found, planned


@pytest.mark.parametrize("world", WORLDS)
def test_the_planned_number_of_items_has_the_stated_power(world):
    options = WORLDS[world]
    judged, chance = planned(*options), np.random.default_rng(3)
    found = np.mean([is_found(chance, *options, judged) for _ in range(200)])
    assert 0.8 - 3 * (0.8 * 0.2 / 200) ** 0.5 < found < 0.93  # `perf.statistics.ranking` has more worlds


def test_half_of_the_planned_items_are_not_enough():
    options = WORLDS["judgments alone"]
    chance = np.random.default_rng(4)
    assert np.mean([is_found(chance, *options, planned(*options) // 2) for _ in range(200)]) < 0.65


def test_more_systems_wrong_judgments_and_small_differences_take_more_items():
    pair, least = Pair(0.2), items_needed(0.05, Pair(0.2))
    assert items_needed(0.05, pair, PowerTest(pairs=10)) > least
    assert items_needed(0.05, pair, PowerTest(power=0.9)) > least
    assert items_needed(0.05, pair, wrong=0.1) > least
    assert items_needed(0.02, pair) > least > items_needed(0.05, Pair(0.1))
    assert items_needed(0.5, Pair(0.5)) == LEAST
    assert items_needed(0.05, pair, items=least - 1) is None
    assert items_needed(0.05, Pair(0.2, 0.9), items=200) is None


def test_a_majority_of_more_votes_is_wrong_less_often():
    shares = [wrong_by_majority(0.2, votes) for votes in (1, 3, 5, 7)]
    assert shares == sorted(shares, reverse=True) and shares[0] == pytest.approx(0.2)
    with pytest.raises(ValueError, match="odd number"):
        wrong_by_majority(0.2, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pair(0.0), "above 0"),
        (lambda: Pair(0.2, 1.0), "explain"),
        (lambda: PowerTest(power=1), "power"),
        (lambda: PowerTest(pairs=0), "at least one pair"),
        (lambda: items_needed(0.3, Pair(0.2)), "at most the spread"),
        (lambda: items_needed(0.1, Pair(0.2), wrong=0.5), "wrong judgments"),
    ],
)
def test_impossible_plans_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_pilot_gives_the_spread_and_what_automatic_scores_explain():
    chance = np.random.default_rng(5)
    judged = np.arange(400)
    said = {"a": (chance.random(400) < 0.8) * 1.0, "b": (chance.random(400) < 0.6) * 1.0}
    board = Board({name: values.copy() for name, values in said.items()}, judged, said, np.zeros(400, dtype=int))
    [pair] = pairs_of(board).values()
    assert pair.spread == np.mean(said["a"] != said["b"])
    assert pair.explained > 0.99
    third = {**said, "copy": said["a"]}
    same = Board({name: values.copy() for name, values in third.items()}, judged, third, np.zeros(400, dtype=int))
    assert set(pairs_of(same)) == {("a", "b"), ("b", "copy")}
