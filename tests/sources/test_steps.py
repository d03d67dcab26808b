"""A step is made once, is the same when it is made again, and leaves nothing behind where it fails."""

import json

import pytest
from django.core.management import CommandError, call_command

from tests.sources.files import lines, record, rows, step

QUESTIONS = [record(str(n), f"why does thing number {n} turn left at noon") for n in range(20)]


@pytest.fixture
def made(tmp_path):
    file = lines(tmp_path / "files.jsonl", QUESTIONS)
    return step("questions", file, "--sample", 5, "--seed", 4, "--to", tmp_path / "to")


def test_the_same_step_again_changes_nothing(made, tmp_path, capsys):
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "to").iterdir()}
    again = ["source", "questions", str(tmp_path / "files.jsonl"), "--sample", "5", "--seed", "4"]
    call_command(*again, "--to", str(tmp_path / "to"))
    assert "is there already, nothing was written" in capsys.readouterr().out
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "to").iterdir()} == before


def test_another_step_does_not_overwrite_it(made, tmp_path):
    with pytest.raises(CommandError, match="holds another step"):
        step("questions", tmp_path / "files.jsonl", "--sample", 5, "--seed", 5, "--to", tmp_path / "to")


def test_a_step_comes_out_the_same_from_its_report(made, tmp_path):
    again = step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")
    assert again == made
    for name in ("kept.jsonl", "dropped.jsonl", "report.json"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "to" / name).read_bytes()


def test_a_file_that_changed_is_not_taken_for_the_one_that_was_read(made, tmp_path):
    lines(tmp_path / "files.jsonl", QUESTIONS[:-1])
    with pytest.raises(CommandError, match="is not the file that was read then"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")


def test_rows_that_differ_from_those_of_the_report_are_an_error(made, tmp_path):
    report = json.loads((tmp_path / "to" / "report.json").read_text())
    report["outputs"]["kept.jsonl"]["sha256"] = "0" * 64
    (tmp_path / "to" / "report.json").write_text(json.dumps(report))
    with pytest.raises(CommandError, match="other rows came out than then"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_a_folder_whose_files_changed_is_not_taken_for_the_step(made, tmp_path):
    (tmp_path / "to" / "kept.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match=r"kept\.jsonl: has changed since the step was made"):
        step("questions", tmp_path / "files.jsonl", "--sample", 5, "--seed", 4, "--to", tmp_path / "to")
    with pytest.raises(CommandError, match="to: is there already"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "to")


@pytest.mark.parametrize(
    "changed", [{"overlap": "1/0"}, {"overlap": "x"}, {"overlap_of": "x"}, {"least_terms": None}, {"excluded": 1}]
)
def test_a_report_that_was_edited_ends_with_a_sentence(made, tmp_path, changed):
    report = json.loads((tmp_path / "to" / "report.json").read_text())
    report["parameters"] |= changed
    (tmp_path / "to" / "report.json").write_text(json.dumps(report))
    with pytest.raises(CommandError, match="isn't a report of the step questions"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")


@pytest.mark.parametrize("name", ["nf[1].jsonl", "nf**.jsonl"])
def test_names_with_signs_of_patterns_are_names(tmp_path, name):
    report = step("questions", lines(tmp_path / name, QUESTIONS), "--to", tmp_path / "to")
    assert step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second") == report


@pytest.mark.parametrize("content", ["", "[", "{}", '{"run": 1}', "[" * 100_000])
def test_a_folder_that_holds_no_step_is_refused(tmp_path, content):
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "report.json").write_text(content)
    with pytest.raises(CommandError, match=r"no step|the report of a step"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")


def test_bm25_ranks_answers_by_the_terms_of_the_question(tmp_path):
    questions = lines(tmp_path / "q.jsonl", [record("1", "blue sky"), record("2", "zebra"), record("3", "天空")])
    texts = ["a\tblue sky above", "b\tblue paint", "c\tBlue sky above!", "d\tsalt", "e\t天空是蓝色的", "f\t"]
    collection = lines(tmp_path / "c.tsv", texts)
    report = step(
        "bm25", "--questions", questions, "--collection", collection, "--seed", 0, "--to", tmp_path / "to", "--depth", 3
    )
    found = [line.split() for line in (tmp_path / "to" / "run.txt").read_text().splitlines()]
    assert [(line[0], line[2], line[3]) for line in found] == [
        ("1", "c", "1"),
        ("1", "a", "2"),
        ("1", "b", "3"),
        ("3", "e", "1"),
    ]
    assert found[0][4] == found[1][4] > found[2][4]
    assert (report["questions"], report["answers"], report["without"]) == (3, 6, 1)


def test_bm25_of_a_collection_without_a_term_finds_nothing(tmp_path):
    questions, collection = lines(tmp_path / "q.jsonl", QUESTIONS[:1]), lines(tmp_path / "c.tsv", ["a\t!", "b\t?"])
    report = step("bm25", "--questions", questions, "--collection", collection, "--seed", 0, "--to", tmp_path / "to")
    assert report["without"] == 1 and rows(tmp_path / "to" / "run.txt") == []


def test_a_pool_of_runs_in_files_of_one_name_comes_out_the_same(tmp_path):
    questions = lines(tmp_path / "q.jsonl", QUESTIONS[:3])
    collection = lines(tmp_path / "c.tsv", [f"{n}_0\tthing number {n} is left" for n in range(9)])
    given = ["--questions", questions, "--collection", collection]
    for name, k1 in (("one", "0.1"), ("two", "5")):
        step("bm25", *given, "--name", name, "--k1", k1, "--to", tmp_path / name)
    runs = [option for name in ("two", "one") for option in ("--run", tmp_path / name / "run.txt")]
    report = step("pool", *given, *runs, "--depth", 2, "--to", tmp_path / "pool")
    assert report["runs"] == ["one", "two"]
    assert step("again", tmp_path / "pool", "--files", tmp_path, "--to", tmp_path / "second") == report


def test_a_file_that_is_missing_is_named(made, tmp_path):
    (tmp_path / "files.jsonl").unlink()
    with pytest.raises(CommandError, match=r"holds no file called files\.jsonl"):
        step("again", tmp_path / "to", "--files", tmp_path, "--to", tmp_path / "second")
