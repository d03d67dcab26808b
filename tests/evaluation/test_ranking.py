"""`evaluate ranking`: a plan from a pilot or from assumptions."""

import csv
import json
import random
from io import StringIO

import pytest
from django.core.management import CommandError, call_command


def run(*arguments):
    out = StringIO()
    call_command("evaluate", "ranking", *map(str, arguments), stdout=out)
    return out.getvalue()


@pytest.fixture
def pilot(tmp_path):
    """Return the files of a pilot: two systems, whose automatic scores agree with people in nine of ten answers."""
    chance = random.Random(1)
    scores, judged = [("item", "system", "score")], [("item", "system", "judgment")]
    for item in range(500):
        for system, quality in (("good", 0.8), ("poor", 0.6)):
            right = chance.random() < quality
            scores.append((f"q{item}", system, int(right if chance.random() < 0.9 else not right)))
            if item < 200:
                judged.append((f"q{item}", system, int(right)))
    for name, rows in (("scores", scores), ("judged", judged)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    return "--scores", tmp_path / "scores.csv", "--judged", tmp_path / "judged.csv"


def test_a_pilot_says_how_many_items_to_judge(pilot, tmp_path):
    found = json.loads(run(*pilot, "--items", 20_000, "--json", "--chart", tmp_path / "curves.svg"))
    assert (found["by"], found["all_items"]) == (["experts", "experts and automatic scores"], 20_000)
    assert 0.3 < found["spread"] < 0.6 and 0.4 < found["explained"] < 0.9
    for row in found["rows"]:
        alone, both = row["items"]
        assert both is None or alone is None or both < alone
    assert [row["points"] for row in found["rows"]] == [1, 2, 3, 5, 10]
    chart = (tmp_path / "curves.svg").read_text()
    assert "Items to judge" in chart and "experts and automatic scores" in chart
    assert "not with these items" in run(*pilot)  # 500 of them


def test_assumptions_do_as_well_and_votes_take_more_judgments():
    found = json.loads(run("--spread", 0.2, "--vote-error", 0.2, "--differences", "5", "--systems", 4, "--json"))
    [row] = found["rows"]
    assert found["by"] == ["experts", "one vote", "majority of 3", "majority of 5"]
    experts, one, three, five = row["items"]
    assert experts < five < three < one
    assert row["judgments"] == [4 * experts, 4 * one, 12 * three, 20 * five]
    assert "all pairs of 4 systems compared" in run("--spread", 0.2, "--systems", 4)
    assert "cannot differ so much" in run("--spread", 0.08)
    experts = json.loads(run("--spread", 0.2, "--explained", 0.6, "--vote-error", 0.05, "--differences", "5", "--json"))
    assert experts["rows"][0]["items"][3] > experts["rows"][0]["items"][0]  # votes have no help of automatic scores


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--scores and --judged of a pilot, or --spread"),
        (["--spread", 0.2, "--scores", "x.csv"], "--scores and --judged of a pilot, or --spread"),
        (["--spread", 0.2, "--systems", 1], "--systems must be at least 2"),
        (["--spread", 0.2, "--items", 0], "--items at least 1"),
        (["--spread", 0.2, "--power", 0.01], "must be above the level"),
        (["--spread", 0.2, "--differences", "much"], "expected numbers"),
        (["--spread", 2], "above 0"),
        (["--spread", 0.2, "--vote-error", 0.6], "wrong judgments"),
        (["--spread", 0.2, "--power", 1], "power"),
        (["--spread", 0.2, "--chart", "/nowhere/at/all.svg"], "No such file"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(CommandError, match=message):
        run(*arguments)
