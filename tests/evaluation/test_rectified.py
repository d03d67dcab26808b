"""`evaluate rectified`: tables of automatic scores and of judgments, and what is refused."""

import csv
import json
import random

import pytest
from django.core.management import CommandError, call_command

SYSTEMS = ("alpha", "beta", "γ")


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return str(path)


@pytest.fixture
def tables(tmp_path):
    """Scores of three systems on 400 items in two strata, and judgments of two of them on every fifth item."""
    draw = random.Random(4)
    scores, judged = [], []
    for number in range(400):
        for place, system in enumerate(SYSTEMS):
            right = draw.random() < 0.5 + 0.15 * place
            match = right if draw.random() < 0.9 else not right
            scores.append((f"q{number}", system, int(match), "long" if number % 2 else "short"))
            if number % 5 == 0 and system != "γ":
                judged.append((f"q{number}", system, int(right)))
    return (
        write(tmp_path / "scores.csv", ("item", "system", "score", "stratum"), scores),
        write(tmp_path / "judged.csv", ("item", "system", "judgment"), judged),
    )


def evaluated(tables, capsys, *arguments):
    call_command("evaluate", "rectified", "--scores", tables[0], "--judged", tables[1], *arguments)
    return capsys.readouterr().out


def test_systems_are_scored_in_human_terms_and_compared(tables, capsys):
    found = json.loads(evaluated(tables, capsys, "--json"))
    assert (found["items"], found["judged"], found["strata"]) == (400, 80, ["short", "long"])
    assert {row["system"] for row in found["systems"]} == {"alpha", "beta"}
    for row in found["systems"]:
        assert row["score"]["low"] < row["score"]["value"] < row["score"]["high"]
        assert row["score"]["high"] - row["score"]["low"] < row["sample"]["high"] - row["sample"]["low"]
        assert len(row["weights"]) == 2
    assert [row["system"] for row in found["unjudged"]] == ["γ"]
    (pair,) = found["pairs"]
    assert (pair["first"], pair["second"]) == ("alpha", "beta") and pair["p"] == pair["p_holm"]
    text = evaluated(tables, capsys)
    assert "400 items, 80 of them judged by people" in text
    assert "γ                         no judgments: the automatic score alone says" in text
    assert "of 1 pairs are told apart" in text


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (0, lambda rows: rows[:-1], "'γ' has no score of 'q399'"),
        (0, lambda rows: [*rows, rows[-1]], "line 1202: 'q399' of 'γ' stands twice"),
        (0, lambda rows: [("q0", "alpha", "high", "short"), *rows[1:]], "line 2, column score: 'high' is not a number"),
        (0, lambda rows: [("", "alpha", "1", "short"), *rows[1:]], "line 2, column item: is empty"),
        (0, lambda rows: [(*rows[0][:3], "other"), *rows[1:]], "line 3, column stratum: 'q0' was in 'other' before"),
        (1, lambda rows: rows[:-1], "are judged on the same items"),
        (1, lambda rows: [("q0", "alpha", "1.5"), *rows[1:]], "isn't between 0 and 1: 'q0'"),
        (1, lambda rows: [("q0", "delta", "1"), *rows[1:]], "system 'delta' has no scores in"),
        (1, lambda rows: [("q999", "alpha", "1"), *rows], "without scores: 'q999'"),
        (1, lambda rows: rows[:60], "stratum 'short' has 15 judged items; 20 are needed"),
        (1, lambda _rows: [], "no judgments"),
    ],
)
def test_tables_that_say_too_little_are_refused(tables, capsys, file, change, message):
    with open(tables[file], newline="", encoding="utf-8") as given:
        header, *rows = [tuple(row) for row in csv.reader(given)]
    with open(tables[file], "w", newline="", encoding="utf-8") as changed:
        csv.writer(changed).writerows([header, *change(rows)])
    with pytest.raises(CommandError, match=message):
        evaluated(tables, capsys)
