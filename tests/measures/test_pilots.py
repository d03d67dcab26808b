"""Forecasts from a pilot: held out by item and by person, on real crowds."""

import numpy as np
import pytest

from measures.judgments import effective_number, judgments_of
from measures.pilots import WIDER, PilotTooSmall, forecasts
from tests.measures.crowds import crossed, real
from tests.measures.halves import Crowd, widening

CUTS = {"dog": 12, "bluebird": 30, "rte": 8}


@pytest.mark.slow
@pytest.mark.shared
def test_forecasts_hold_what_the_other_half_of_real_crowds_did_as_often_as_they_say(shared):
    """Fifty cuts by item and by person; `perf.statistics.forecasts` makes more, of more crowds."""
    cuts = []
    for name, count in CUTS.items():
        crowd, chance = Crowd.of(name, *real(shared, name)), np.random.default_rng(11)
        cuts += [crowd.cut(chance) for _ in range(count)]
    error, half = np.array(cuts).transpose(1, 0, 2)
    held = (np.abs(error) <= WIDER * half).mean(axis=0)
    assert (held >= 0.9).all(), held
    assert (2 * WIDER * half.mean(axis=0) < [0.5, 0.56, 0.5]).all()  # not by saying nothing


@pytest.mark.slow
@pytest.mark.shared
def test_a_crowd_with_a_few_people_at_chance_level_is_held_by_the_factor_of_the_others(shared):
    """By the jackknife alone, rte is held in three quarters of its cuts."""
    rte, other = (
        np.array([crowd.cut(chance) for _ in range(30)])
        for name in ("rte", "d_sentiment")
        for crowd, chance in [(Crowd.of(name, *real(shared, name)), np.random.default_rng(1))]
    )
    alone, wider = ((np.abs(rte[:, 0]) <= factor * rte[:, 1]).mean() for factor in (1.0, widening([other])))
    assert alone < 0.8 < wider


@pytest.mark.slow
@pytest.mark.shared
def test_a_forecast_that_takes_people_for_no_sample_would_hold_far_less(shared, monkeypatch):
    """The control: without what differs between people, intervals of the same cuts are far too narrow."""
    from measures import pilots

    whole = pilots._variance
    monkeypatch.setattr(pilots, "_variance", lambda without: whole(without) * (len(without) == pilots.GROUPS))
    crowd, chance = Crowd.of("dog", *real(shared, "dog")), np.random.default_rng(11)
    error, half = np.array([crowd.cut(chance) for _ in range(12)]).transpose(1, 0, 2)
    assert ((np.abs(error) <= half)[:, :2].mean(axis=0) < 0.85).any()


def made(seed=1, **size):
    judgments, truth = crossed(np.random.default_rng(seed), **{"items": 120, "people": 20, "votes": 4, **size})
    return judgments, np.array(truth) - 1


def test_more_items_and_people_make_intervals_narrower_but_never_narrower_than_the_pilot_allows():
    judgments, true = made()
    small, large, endless = (
        forecasts(judgments, true, votes=3, items=items, people=people)["accuracy"]
        for items, people in ((60, 5.0), (2_000, 100.0), (10**9, 1e9))
    )
    widths = [one.high - one.low for one in (small, large, endless)]
    assert widths[0] > widths[1] > widths[2] > 0
    assert small.value == large.value == endless.value


def test_what_cannot_be_said_is_not_said():
    judgments, true = made()
    assert forecasts(judgments, np.full(len(true), -1), votes=3, items=100, people=10)["accuracy"].value is None
    with pytest.raises(PilotTooSmall, match="no item of the pilot has 9 judgments"):
        forecasts(judgments, true, votes=9, items=100, people=10)
    few = judgments_of([(item, who, item % 2) for item in range(9) for who in "ab"])
    with pytest.raises(PilotTooSmall, match="2 people judged"):
        forecasts(few, np.zeros(9, dtype=int), votes=2, items=100, people=10)


def test_three_votes_of_a_crowd_that_always_agrees_leave_no_doubt():
    same = judgments_of([(item, who, item % 3) for item in range(30) for who in "abcdef"])
    found = forecasts(same, np.arange(30) % 3, votes=3, items=100, people=6)
    assert found["accuracy"].value == found["alpha"].value == 1
    assert (found["no_majority"].value, found["no_majority"].high) == (0, 0)


def test_effective_number_are_as_many_as_there_are_if_all_do_the_same():
    assert effective_number(np.repeat(np.arange(8), 5)) == pytest.approx(8)
    assert effective_number(np.array([0] * 90 + list(range(1, 11)))) < 1.3
