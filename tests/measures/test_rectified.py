"""Scores in human terms: by hand, unbiased in made-up worlds, and narrower where the automatic score knows something."""

import numpy as np
import pytest

from measures.rectified import Board, TooFewJudged
from tests.measures.rectified_worlds import WORLDS, world


@pytest.mark.parametrize("name", WORLDS)
def test_scores_are_unbiased_and_intervals_hold(name):
    """400 worlds; `perf.statistics.rectified` plays 2,000."""
    options, chance = WORLDS[name], np.random.default_rng(3)
    found = [world(chance, **options).rectified("a") for _ in range(400)]
    error = np.array([one.score.value - options["right"] for one in found])
    assert abs(error.mean()) < 0.15 * error.std()
    covers = np.mean([one.score.low <= options["right"] <= one.score.high for one in found])
    assert covers >= 0.91
    ratio = np.mean([(one.score.high - one.score.low) / (one.sample.high - one.sample.low) for one in found])
    assert ratio < (0.6 if options["agrees"] == 0.9 else 1.01)


def test_the_estimate_by_hand():
    scores = np.array([1.0, 0.0] * 40)
    judged = np.arange(40)
    judgments = np.where(np.arange(40) % 2 == 0, 1.0, 0.0)
    judgments[:4] = [0, 0, 1, 1]  # two of forty differ from the automatic score
    board = Board({"a": scores}, judged, {"a": judgments}, np.zeros(80, dtype=int))
    found = board.rectified("a")
    own, weight = scores[:40], found.weights[0]
    assert weight == pytest.approx(np.cov(judgments, own)[0, 1] / own.var(ddof=1))
    assert found.score.value == pytest.approx(weight * scores.mean() + (judgments - weight * own).mean())
    assert found.sample.value == pytest.approx(judgments.mean())
    rest = judgments - weight * own
    within = (1 - 40 / 80) * (((rest - rest.mean()) ** 2).sum() + 1) / 38 / 40  # and one disagreement of full size
    error = board._estimate(judgments, weight * scores)[1]
    assert error == pytest.approx(np.sqrt(within + judgments.var(ddof=1) / 80 + 1 / 80**2))


def test_an_automatic_score_that_tells_nothing_is_left_out():
    chance = np.random.default_rng(1)
    judged = chance.choice(400, 100, replace=False)
    judgments = (chance.random(100) < 0.6).astype(float)
    board = Board({"a": np.full(400, 0.9)}, judged, {"a": judgments}, np.zeros(400, dtype=int))
    found = board.rectified("a")
    assert found.weights == (0.0,) and found.score == found.sample
    assert found.automatic == pytest.approx(0.9)


def test_a_system_that_is_always_right_is_no_certainty():
    board = Board({"a": np.ones(200)}, np.arange(50), {"a": np.ones(50)}, np.zeros(200, dtype=int))
    score = board.rectified("a").score
    assert score.value == 1 and 0.85 < score.low < 0.95
    always = Board(
        board.scores | {"b": np.zeros(200)}, board.judged, board.judgments | {"b": np.zeros(50)}, board.stratum
    )
    (pair,) = always.differences()
    assert pair.difference.value == 1 and 0.9 < pair.difference.low < 1 and 0 < pair.p < 1e-6


def paired(chance, gain):
    """Return a board of two systems, the second better by ``gain``, which the automatic score takes for worse."""
    easy = chance.random(2_000)
    first, second = easy < 0.6, easy < 0.6 + gain
    match = {
        "old": np.where(chance.random(2_000) < 0.9, first, True).astype(float),
        "new": np.where(chance.random(2_000) < 0.85, second, False).astype(float),
    }
    judged = chance.choice(2_000, 200, replace=False)
    said = {"old": first[judged].astype(float), "new": second[judged].astype(float)}
    return Board(match, judged, said, np.zeros(2_000, dtype=int))


def test_pairs_are_compared_item_by_item():
    chance, differences, automatic = np.random.default_rng(2), [], []
    for _ in range(200):
        board = paired(chance, 0.05)
        (one,) = board.differences()
        assert (one.first, one.second) == ("old", "new")
        differences.append(one)
        automatic.append(board.scores["old"].mean() - board.scores["new"].mean())
    assert np.mean(automatic) > 0.03  # string match says that the old one is better
    assert np.mean([one.difference.value for one in differences]) == pytest.approx(-0.05, abs=0.005)
    assert np.mean([one.difference.low <= -0.05 <= one.difference.high for one in differences]) > 0.9
    assert np.mean([one.p < 0.05 for one in differences]) > 0.3
    null = [paired(chance, 0.0).differences()[0].p < 0.05 for _ in range(200)]
    assert np.mean(null) < 0.1


def test_a_stratum_with_few_judgments_is_refused():
    with pytest.raises(TooFewJudged, match="stratum 1 has 3 judged items; 20 are needed"):
        Board({"a": np.ones(100)}, np.arange(53), {"a": np.ones(53)}, np.arange(100) // 50)


@pytest.mark.shared
def test_on_published_judgments_intervals_are_a_fifth_narrower(shared):
    from perf.statistics.rectified import systems_of
    from tests.measures.crowds import real

    chance, widths = np.random.default_rng(2), []
    for name in ("web", "rte", "dog", "d_sentiment", "zencrowd"):
        for scores, judgments in systems_of(*real(shared, name)):
            sample = chance.choice(len(scores), 100, replace=False)
            found = Board({"a": scores}, sample, {"a": judgments[sample]}, np.zeros(len(scores), int)).rectified("a")
            widths.append((found.score.high - found.score.low) / (found.sample.high - found.sample.low))
    assert np.mean(widths) <= 0.8


def test_systems_that_never_differ_are_not_said_to_be_equal():
    right, places = np.ones(20), np.arange(20)
    board = Board({"a": right, "b": right}, places, {"a": right, "b": right}, np.zeros(20, dtype=int))
    [difference] = board.differences()
    assert difference.difference.low < -0.05 and difference.difference.high > 0.05
