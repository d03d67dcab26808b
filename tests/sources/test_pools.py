"""Pools: what is taken of runs, by hand; and what is refused, with file and line."""

import pytest
from django.core.management import CommandError

from sources.rules.pools import Depth, Pooled, Taken, pool, taken
from sources.trec import TieOrder
from tests.sources.files import lines, record, rows, step

SCORES = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": 2.0}


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (Depth(1), Taken(["b"], 0)),
        (Depth(2), Taken(["b", "e"], 2)),
        (Depth(2, TieOrder.LESSER_ID), Taken(["b", "c"], 2)),
        (Depth(2, whole_ties=True), Taken(["b", "e", "d", "c"], 0)),
        (Depth(4), Taken(["b", "e", "d", "c"], 0)),
        (Depth(9), Taken(["b", "e", "d", "c", "a"], 0)),
    ],
)
def test_the_best_k_with_ties_as_stated(depth, expected):
    assert taken(SCORES, depth) == expected


def test_nothing_is_taken_of_a_run_without_answers():
    assert taken({}, Depth(3, whole_ties=True)) == Taken([], 0)


def test_a_pool_holds_each_answer_once_with_all_that_brought_it():
    takens = {"one": Taken(["b", "a"], 0), "two": Taken(["a", "x"], 0)}
    assert list(pool(takens, own=["b", "c", "x"], without=["x"])) == [
        Pooled("a", {"one": 2, "two": 1}, is_own=False),
        Pooled("b", {"one": 1}, is_own=True),
        Pooled("c", {}, is_own=True),
    ]


@pytest.fixture
def world(tmp_path):
    lines(tmp_path / "questions.jsonl", [record("1", "Why is the sky blue?"), record("2", "Why is the sea salty?")])
    texts = {
        "1_0": "Turn it slowly.",
        "1_1": "Ask a smith.",
        "2_0": "Turn it slowly.",
        "2_1": "Ask a smith.",
        "9_3": "Salt.",
    }
    lines(tmp_path / "collection.tsv", [f"{key}\t{text}" for key, text in texts.items()])
    return tmp_path


def pooled(world, *results, options=()):
    """Make a pool of runs, each of lines ``question answer score``."""
    files = []
    for number, run in enumerate(results):
        text = [f"{question} Q0 {answer} 1 {score} run{number}" for question, answer, score in map(str.split, run)]
        files += ["--run", lines(world / f"run{number}.txt", text)]
    given = ["--questions", world / "questions.jsonl", "--collection", world / "collection.tsv"]
    return step("pool", *given, *files, "--seed", 1, "--to", world / "to", *options)


def test_pairs_come_with_their_texts_and_with_what_brought_them(world):
    report = pooled(world, ["1 9_3 2.0", "1 1_1 1.0"], ["1 9_3 0.5"], options=["--depth", 2])
    found = {(row["question_id"], row["answer_id"]): row for row in rows(world / "to" / "pairs.jsonl")}
    assert set(found) == {("1", "9_3"), ("1", "1_1"), ("2", "2_1")}  # of each question the best answer is not judged
    pair = found["1", "9_3"]
    assert (pair["question"], pair["answer"], pair["possibly_correct_id"]) == ("Why is the sky blue?", "Salt.", "1_0")
    assert pair["origin"]["runs"] == {"run0": 1, "run1": 1} and pair["origin"]["is_own"] is False
    assert found["2", "2_1"]["origin"]["runs"] == {} and found["2", "2_1"]["origin"]["is_own"] is True
    assert (report["pairs"], report["own"], report["short"]) == (3, 2, 3)
    assert {"question": "2", "run": "run1", "answers": 0} in report["short_runs"]


def test_the_questions_own_answers_can_be_left_out(world):
    run = ["1 1_1 3.0", "1 9_3 2.0", "1 2_0 1.0", "1 1_0 0.5"]
    report = pooled(world, run, options=["--without-own", "--depth", 2])
    assert {row["answer_id"] for row in rows(world / "to" / "pairs.jsonl")} == {
        "9_3",
        "2_0",
    }  # the best 2 that are left
    assert report["own"] == 0


def test_ties_that_are_cut_are_listed(world):
    report = pooled(world, ["1 9_3 1.0", "1 2_1 1.0", "1 2_0 1"], options=["--depth", 1])
    assert report["tied_runs"] == [{"question": "1", "run": "run0", "left_out": 2}]


def test_scores_that_trec_eval_takes_as_equal_are_equal(world):
    report = pooled(world, ["1 9_3 1.00000001", "1 2_1 1.0"], options=["--depth", 1])
    assert report["cut_ties"] == 1


def test_answers_that_say_the_same_are_judged_once_by_choice(world):
    lines(world / "collection.tsv", ["1_0\tTurn it slowly.", "1_1\tAsk a smith.", "8_1\tAsk a smith!", "8_2\tSalt."])
    report = pooled(world, ["1 8_1 2", "1 8_2 1"], options=["--once", "0.9"])
    kept = {row["answer_id"] for row in rows(world / "to" / "pairs.jsonl") if row["question_id"] == "1"}
    [dropped] = [row for row in rows(world / "to" / "dropped.jsonl") if row["question_id"] == "1"]
    assert kept | {dropped["answer_id"]} == {"1_1", "8_1", "8_2"} and report["dropped"] == 1
    assert dropped["kept"] in kept and dropped["why"] == "near duplicate"


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (["1 9_3 1", "1 9_3 2"], "run0.txt: line 2: 9_3 was returned for 1 before"),
        (["1 9_3 nan"], "run0.txt: line 1: the score 'nan' isn't a finite number"),
        (["1 9_3 inf"], "the score 'inf' isn't a finite number"),
        (["1 9_3 1e39"], "isn't a finite number"),
        (["1 9_3 1_0"], "the score '1_0' isn't a finite number"),
        (["1 9_3 high"], "the score 'high' isn't a finite number"),
        (["1 9_3 1", "7 9_3 1"], "run0.txt: line 2: 7 is none of the questions"),
        (["1 9_4 1"], "run0.txt: line 1: 9_4 is not in the collection"),
    ],
)
def test_a_line_that_cannot_be_taken_is_named(world, run, said):
    with pytest.raises(CommandError, match=said):
        pooled(world, run)
    assert not (world / "to").exists()


def test_a_best_answer_without_text_is_none(world):
    lines(world / "questions.jsonl", [record("1", "Why is the sky blue?", ("", "Ask a smith."), best=0)])
    pooled(world, ["1 9_3 1"])
    pairs = rows(world / "to" / "pairs.jsonl")
    assert {row["answer_id"] for row in pairs} == {"9_3", "1_1", "1_0"}  # the collection has a text for the last
    assert not any("possibly_correct_id" in row for row in pairs)


def test_two_runs_of_one_name_are_refused(world):
    lines(world / "again.txt", ["1 Q0 9_3 1 1.0 run0"])
    with pytest.raises(CommandError, match="an earlier file holds a run called run0"):
        pooled(world, ["1 9_3 1"], options=["--run", world / "again.txt"])


def test_a_collection_with_an_id_twice_is_refused(world):
    lines(world / "collection.tsv", ["1_0\tOne.", "1_0\tTwo."])
    with pytest.raises(CommandError, match="line 2: the id 1_0 stands in an earlier line"):
        pooled(world, ["1 1_0 1"])


@pytest.mark.parametrize("key", ["a b", " a", ""])
def test_an_id_that_is_no_word_is_refused(world, key):
    lines(world / "collection.tsv", ["1_0\tOne.", f"{key}\tTwo."])
    with pytest.raises(CommandError, match="line 2: an id is one word"):
        pooled(world, ["1 1_0 1"])


def test_an_answer_without_text_is_not_judged_and_said(world):
    lines(world / "collection.tsv", ["9_3\t", "9_4\tSalt."])
    report = pooled(world, ["1 9_3 2", "1 9_4 1"])
    [dropped] = rows(world / "to" / "dropped.jsonl")
    assert (dropped["answer_id"], dropped["why"], report["dropped"]) == ("9_3", "no text", 1)
