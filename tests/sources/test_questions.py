"""Questions are filtered as ANTIQUE's were, each drop with its reason."""

import json

import pytest
from django.core.management import CommandError

from tests.sources.files import lines, record, rows, step

LONG = "how can I get a red wine stain out of a white shirt"  # 11 different terms
RECORDS = [
    record("1", LONG),
    record("2", f"{LONG}?!"),
    record("3", f"{LONG} today"),
    record("4", "Why not?"),
    record("5", "Why is the sky blue?", best=None),
    record("6", "Why does my laptop get so hot?", category="Computers & Internet"),
    record("7", "What makes bread rise in the oven?"),
    record("8", "Why?", best=None, category="Yahoo! Products"),
    record("9", "How do magnets work under water?"),
]


@pytest.fixture
def file(tmp_path):
    return lines(tmp_path / "nfL6.jsonl", RECORDS)


def test_each_filter_is_counted_alone_and_in_its_turn(file, tmp_path):
    report = step("questions", file, "--seed", 1, "--to", tmp_path / "to")
    assert report["read"] == 9
    assert report["alone"] == {"too short": 2, "no best answer": 2, "near duplicate": 2, "category": 2}
    assert report["dropped"] == {
        "too short": 2,
        "no best answer": 1,
        "near duplicate": 2,
        "category": 1,
        "not drawn": 0,
    }
    kept = rows(tmp_path / "to" / "kept.jsonl")
    assert len({row["id"] for row in kept} & {"1", "2", "3"}) == 1
    assert {row["id"] for row in kept} - {"1", "2", "3"} == {"7", "9"}
    assert report["kept"] == len(kept) == 3


def test_what_is_dropped_says_why_and_where_it_stood(file, tmp_path):
    report = step("questions", file, "--seed", 1, "--to", tmp_path / "to")
    dropped = {row["id"]: row for row in rows(tmp_path / "to" / "dropped.jsonl")}
    kept = {row["id"]: row for row in rows(tmp_path / "to" / "kept.jsonl")}
    assert set(dropped) | set(kept) == {row["id"] for row in RECORDS}
    assert dropped["8"]["why"] == "too short"  # the first filter that it fails
    for row in dropped.values():
        if row["why"] == "near duplicate":
            assert row["kept"] in kept and row["share"] > 0.9
    assert all(
        row["origin"] == {"step": report["run"], "file": "nfL6.jsonl", "row": int(row["id"])}
        for row in [*dropped.values(), *kept.values()]
    )
    assert {key: kept["7"][key] for key in RECORDS[6]} == RECORDS[6]


def test_another_seed_keeps_another_of_near_duplicates(file, tmp_path):
    chosen = set()
    for seed in range(12):
        step("questions", file, "--seed", seed, "--to", tmp_path / f"to{seed}")
        chosen |= {row["id"] for row in rows(tmp_path / f"to{seed}" / "kept.jsonl")} & {"1", "2", "3"}
        if len(chosen) == 3:
            break
    assert chosen == {"1", "2", "3"}


def test_a_sample_is_drawn_by_seed_whatever_the_order_of_the_file(file, tmp_path):
    turned = lines(tmp_path / "turned.jsonl", reversed(RECORDS))
    for name in (file, turned):
        report = step("questions", name, "--sample", 2, "--seed", 3, "--to", tmp_path / name.stem)
        assert (report["kept"], report["dropped"]["not drawn"]) == (2, 1)
    first, second = ({row["id"] for row in rows(tmp_path / stem / "kept.jsonl")} for stem in ("nfL6", "turned"))
    assert first == second


def test_filters_can_be_changed(file, tmp_path):
    options = ["--least-terms", 1, "--exclude", "", "--overlap", "1", "--or-equal", "--seed", 1]
    report = step("questions", file, *options, "--to", tmp_path / "to")
    assert report["dropped"] == {
        "too short": 0,
        "no best answer": 2,
        "near duplicate": 1,
        "category": 0,
        "not drawn": 0,
    }


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": 7, "question": "Why so?"}, "row 2: id: expected a text"),
        ({"id": "7"}, "row 2: question: expected a text"),
        ({"id": "1", "question": "Why so late?"}, "row 2: id: 1 stands in an earlier row"),
        ({"id": "7", "question": "Why so?", "nbestanswers": "x"}, "row 2: nbestanswers: expected a list of texts"),
        ({"id": "7 8", "question": "Why so?"}, "row 2: id: is one word"),
        ("{", "row 2: line: not JSON"),
    ],
)
def test_a_row_that_is_no_question_is_named_and_nothing_is_written(tmp_path, row, said):
    file = lines(tmp_path / "bad.jsonl", [RECORDS[0], row])
    with pytest.raises(CommandError, match=said):
        step("questions", file, "--seed", 1, "--to", tmp_path / "to")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.jsonl"]


def test_the_real_record_goes_through(shared, tmp_path):
    real = json.loads((shared / "antique/nfL6-sample.json").read_text())
    report = step("questions", shared / "antique/nfL6-sample.json", "--seed", 1, "--to", tmp_path / "to")
    assert report["kept"] == report["read"] == len(real)
    assert rows(tmp_path / "to" / "kept.jsonl")[0]["id"] == real[0]["id"]


@pytest.mark.parametrize("share", ["0", "2", "1.5", "-0.5", "nan", "1e-9", "1/0", "0/3", "", "1e-30000000"])
def test_a_share_that_is_none_is_refused(file, tmp_path, share):
    with pytest.raises(CommandError, match="isn't a share"):
        step("questions", file, f"--overlap={share}", "--to", tmp_path / "to")


def test_no_share_is_above_one(file, tmp_path):
    with pytest.raises(CommandError, match="add --or-equal"):
        step("questions", file, "--overlap", "1", "--to", tmp_path / "to")


def test_where_a_row_came_from_before_is_kept(tmp_path):
    file = lines(tmp_path / "own.jsonl", [{**RECORDS[6], "origin": {"log": 5}}])
    step("questions", file, "--to", tmp_path / "to")
    assert rows(tmp_path / "to" / "kept.jsonl")[0]["origin"]["before"] == {"log": 5}


def test_a_number_that_is_none_is_not_written(tmp_path):
    file = lines(tmp_path / "nan.jsonl", [{**RECORDS[6], "more": float("nan")}])
    with pytest.raises(CommandError, match="cannot be written as JSON"):
        step("questions", file, "--to", tmp_path / "to")
    assert [path.name for path in tmp_path.iterdir()] == ["nan.jsonl"]
