"""Votes where the doubt is, over the marketplace with a synthetic crowd, the job worker killed in phase after phase."""

import pytest

from tests.console.processes import result_of

pytestmark = [pytest.mark.slow, pytest.mark.own_database]
PHASES = 9  # the worker is killed once in each
MOST = 4  # votes of a pair, by the policy of the run


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    arguments = ("--seed", "7", "--pairs", "40", "--kills", str(PHASES))
    return result_of(tmp_path_factory.mktemp("target"), "demo_target", *arguments, seconds=1_000)


def test_it_stops_by_budget_by_votes_and_at_the_target(ran):
    result, said = ran
    assert said.count("killed the job worker") == PHASES
    assert {"budget", "votes", "target"} <= set(result["stops"])
    assert result["predicted"] <= 0.005
    assert result["labels"] == 40


def test_each_wave_was_bought_once_whatever_was_killed(ran):
    result, _ = ran
    assert result["unfinished_waves"] == 0
    assert result["votes_bought"] == result["slots_bought"]
    assert result["most_votes"] <= MOST


def test_what_votes_left_went_to_experts_and_the_error_is_measured_and_printed(ran):
    result, _ = ran
    assert result["cases"] > 0
    error = result["label_error"]
    assert (error["audits"], error["calibrates"], error["judged"] + error["left_out"]) == (2, False, error["drawn"])
    assert error["low"] <= error["share"] <= error["high"]
    assert result["printed"]["share"] == error["share"]


def test_the_books_agree(ran):
    result, _ = ran
    books = result["books"]
    assert books["differences"] == []
    assert books["account"]["paid"] == books["rewards_ours"] + books["bonuses_ours"]
    assert books["account"]["held"] == 0
