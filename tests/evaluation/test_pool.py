"""What the labels of a pool say, by hand; with intervals that know of questions."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.statistics import ratio_interval


def pair(question, answer, *runs, own=False):
    return {"question_id": question, "answer_id": answer, "origin": {"runs": dict.fromkeys(runs, 1), "is_own": own}}


@pytest.fixture
def files(tmp_path):
    """Return a pool of two questions, seven of whose eight pairs have a label."""
    rows = [
        pair("1", "a", "bm25"),
        pair("1", "b", "bm25", "other"),
        pair("1", "c", own=True),
        pair("1", "d", "other"),
        pair("2", "a", "bm25"),
        pair("2", "b", "bm25"),
        pair("2", "c", "other", own=True),
        pair("2", "d", "other"),
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = {"1": {"a": 4, "b": 3, "c": 4, "d": 1, "x": 4}, "2": {"a": 2, "b": 1, "c": 4}}
    lines = [f"{question} Q0 {answer} {label}\n" for question, row in labels.items() for answer, label in row.items()]
    (tmp_path / "qrels").write_text("".join(lines))
    return tmp_path


def evaluated(folder, *options):
    out = StringIO()
    given = ["--pairs", str(folder / "pairs.jsonl"), "--qrels", str(folder / "qrels"), *options]
    call_command("evaluate", "pool", *given, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_shares_are_of_what_has_a_label_and_runs_get_what_they_alone_brought(files):
    report = evaluated(files)
    assert (report["pairs"], report["questions"], report["judged"], report["relevant"]) == (8, 2, 7, 4)
    assert report["share"] == 4 / 7
    bm25, other = report["runs"]
    assert (bm25["run"], bm25["judged"], bm25["relevant"], bm25["relevant_alone"]) == ("bm25", 4, 2, 1)
    assert (other["run"], other["judged"], other["relevant"], other["relevant_alone"]) == ("other", 3, 2, 0)


def test_other_labels_can_be_relevant(files):
    assert evaluated(files, "--relevant", "4")["relevant"] == 3


def test_the_interval_is_over_questions_not_over_pairs():
    """Ten questions whose ten pairs are all alike say no more than ten pairs."""
    alike = [(10, 10)] * 5 + [(0, 10)] * 5
    low, high = ratio_interval(alike, resamples=2_000, seed=1)
    assert ratio_interval([(1, 1)] * 5 + [(0, 1)] * 5, resamples=2_000, seed=1) == (low, high)
    mixed = [(5, 10)] * 10
    assert ratio_interval(mixed, resamples=2_000, seed=1) == (0.5, 0.5)
    assert ratio_interval([(1, 2)], resamples=10, seed=1) is None
    low, high = ratio_interval([(0, 10)] * 10, resamples=10, seed=1)
    assert low == 0 and high == pytest.approx(0.278, abs=0.001)  # nothing relevant, of ten questions


def test_the_report_can_be_read(files, capsys):
    call_command("evaluate", "pool", "--pairs", str(files / "pairs.jsonl"), "--qrels", str(files / "qrels"))
    said = capsys.readouterr().out
    assert "8 pairs of 2 questions; 7 have a label" in said
    assert "bm25: 2 of 4, 50.0%" in said


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"origin": 1}',
        '{"origin": {"runs": [], "is_own": true}, "question_id": "1", "answer_id": "a"}',
    ],
)
def test_a_line_that_is_no_pair_is_named(files, line):
    with (files / "pairs.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(CommandError, match="line 9: expected an object as source pool writes it"):
        evaluated(files)


def test_a_pair_that_stands_twice_is_named(files):
    with (files / "pairs.jsonl").open("a") as file:
        file.write(json.dumps(pair("1", "a")) + "\n")
    with pytest.raises(CommandError, match="line 9: 1 a stands in an earlier line"):
        evaluated(files)
