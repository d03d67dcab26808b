"""The sequential test of gold checks: exact rates, a budget for a lifetime, and what a few checks say."""

import random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measures.gold_tests import Finding, GoldTest

TEST = GoldTest()


def test_the_steps_are_those_of_wald():
    assert pytest.approx(1.386, abs=0.001) == TEST.miss
    assert pytest.approx(-0.405, abs=0.001) == TEST.hit
    assert pytest.approx(-2.251, abs=0.001) == TEST.floor
    assert pytest.approx(3.689, abs=0.001) == TEST.limit(0)


def test_three_straight_misses_fail_and_six_straight_hits_pass():
    assert TEST.assess([False] * 2).finding is Finding.WARN
    assert TEST.assess([False] * 3).finding is Finding.FAILED
    assert TEST.assess([True] * 5).passed == 0
    assert TEST.assess([True] * 6).passed == 1


def test_after_a_failure_nothing_is_looked_at():
    assert TEST.assess([False] * 3 + [True] * 50).checks == 3


def test_each_test_that_ended_well_makes_the_next_one_stricter():
    assert TEST.limit(1) > TEST.limit(0)
    assert TEST.assess([True] * 6 + [False] * 3).finding is Finding.WARN
    assert TEST.assess([True] * 6 + [False] * 4).finding is Finding.FAILED


def test_a_good_annotator_fails_less_than_the_budget_says_over_a_lifetime():
    rates = [TEST.failure_rate(0.90, checks) for checks in (10, 50, 200)]
    assert rates == sorted(rates)
    assert rates[-1] < TEST.budget
    assert TEST.failure_rate(0.95, 200) < 0.01


def test_a_careless_one_is_found_soon():
    assert TEST.failure_rate(0.25, 10) > 0.95
    assert TEST.failure_rate(0.60, 30) > 0.7


@pytest.mark.parametrize("hit_rate", [0.9, 0.7, 0.25])
def test_the_exact_rate_agrees_with_a_simulation(hit_rate):
    source = random.Random(7)
    failed = sum(
        TEST.assess(source.random() < hit_rate for _ in range(25)).finding is Finding.FAILED for _ in range(4000)
    )
    assert failed / 4000 == pytest.approx(TEST.failure_rate(hit_rate, 25), abs=0.03)


@given(st.lists(st.booleans(), max_size=60))
def test_one_more_miss_never_helps(hits):
    before = TEST.assess(hits)
    if before.finding is not Finding.FAILED:
        after = TEST.assess([*hits, False])
        assert after.score > before.score


@pytest.mark.parametrize("wrong", [{"good": 0.5, "bad": 0.6}, {"budget": 0.0}, {"power": 1.0}, {"warn_at": 0.0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        GoldTest(**wrong)


@pytest.mark.parametrize(("before", "checks"), [(0.9, 26), (0.95, 34)])
def test_random_answers_after_three_hundred_checks_are_noticed_after_so_many(before, checks):
    """The figures of docs/explanation/quality.md; 400 people instead of 3,000."""
    test, chance, needed = GoldTest(), random.Random(2), []
    for _ in range(400):
        first = [chance.random() < before for _ in range(300)]
        later = [chance.random() < 0.25 for _ in range(150)]
        if test.assess(first).finding is not Finding.FAILED:
            needed.append(test.assess([*first, *later]).checks - 300)
    assert fmean(needed) == pytest.approx(checks, abs=1.5)
