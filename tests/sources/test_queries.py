"""Queries of logs: long ones, by several users within a window, each once."""

import gzip

import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from sources.rules.queries import most_users
from tests.sources.files import lines, rows, step

LONG = "where does the nature conservancy get its funding"  # 8 words
HOUR = 3600


def issued(query, user, hour=0.0):
    return {"query": query, "user": user, "time": 1_700_000_000 + hour * HOUR}


@pytest.fixture
def log(tmp_path):
    return lines(
        tmp_path / "log.jsonl",
        [
            issued(LONG, "ann"),
            issued(f"  {LONG.replace(' ', '  ')} ", "bob", 24),
            issued(LONG, "ann", 30),
            issued("who is the song killing me softly written about", "ann"),
            issued("who is the song killing me softly written about", "ann", 1),
            issued("who owned most of the railroads in 1800", "cid"),
            issued("who owned most of the railroads in 1800", "dan", 24.1),
            issued("why is the sky blue", "ann"),
            issued("why is the sky blue", "bob"),
        ],
    )


def test_long_queries_of_several_users_in_a_window_are_kept_once(log, tmp_path):
    report = step("queries", log, "--to", tmp_path / "to")
    [kept] = rows(tmp_path / "to" / "kept.jsonl")
    assert (kept["question"], kept["times"], kept["users"]) == (LONG, 3, 2)
    assert kept["origin"] == {"step": report["run"], "file": "log.jsonl", "row": 1}
    assert (report["read"], report["short"], report["queries"], report["kept"]) == (9, 2, 3, 1)
    assert {row["question"]: row["why"] for row in rows(tmp_path / "to" / "dropped.jsonl")} == {
        "who is the song killing me softly written about": "few users",
        "who owned most of the railroads in 1800": "few users",
    }


def test_no_user_is_written_anywhere(log, tmp_path):
    step("queries", log, "--to", tmp_path / "to")
    written = "".join(path.read_text() for path in (tmp_path / "to").iterdir())
    assert not any(user in written for user in ('"ann"', '"bob"', '"cid"'))


@pytest.mark.parametrize(
    ("options", "kept"),
    [(["--hours", 25], 2), (["--least-users", 1], 3), (["--least-words", 5], 2), (["--least-users", 3], 0)],
)
def test_limits_can_be_stated(log, tmp_path, options, kept):
    assert step("queries", log, *options, "--to", tmp_path / "to")["kept"] == kept


def test_several_logs_are_one_whatever_their_form(log, tmp_path):
    table = "query\tuser\ttime\n" + f"{LONG}\teve\t2023-11-14T22:13:20Z\n" + f"{LONG}\tfay\t2023-11-14 22:14\n"
    (tmp_path / "more.tsv.gz").write_bytes(gzip.compress(table.encode()))
    step("queries", tmp_path / "more.tsv.gz", log, "--to", tmp_path / "to")
    [kept] = rows(tmp_path / "to" / "kept.jsonl")
    assert (kept["times"], kept["users"], kept["origin"]["file"]) == (5, 4, "more.tsv.gz")


def test_a_sample_is_drawn_by_seed_whatever_the_order(tmp_path):
    found = [issued(f"{LONG} in the year {n}", user) for n in range(30) for user in ("ann", "bob")]
    chosen = []
    for number, order in enumerate((found, found[::-1])):
        file = lines(tmp_path / f"log{number}.jsonl", order)
        report = step("queries", file, "--sample", 7, "--seed", 2, "--to", tmp_path / f"to{number}")
        assert (report["kept"], report["dropped"]["not drawn"]) == (7, 23)
        chosen.append([row["id"] for row in rows(tmp_path / f"to{number}" / "kept.jsonl")])
    assert chosen[0] == chosen[1]


def test_two_logs_of_one_name_are_refused(log, tmp_path):
    (tmp_path / "other").mkdir()
    again = lines(tmp_path / "other" / "log.jsonl", [issued(LONG, "ann")])
    with pytest.raises(CommandError, match="two logs have one name"):
        step("queries", log, again, "--to", tmp_path / "to")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query": LONG, "user": "a"}, "row 2: time: is missing"),
        ({"query": LONG, "time": 5}, "row 2: user: is missing"),
        ({"user": "a", "time": 5}, "row 2: query: is missing"),
        ({"query": LONG, "user": "a", "time": "yesterday"}, "row 2: time: 'yesterday' isn't a time"),
        ({"query": LONG, "user": "a", "time": "nan"}, "row 2: time: 'nan' isn't a time"),
        ({"query": LONG, "user": "a", "time": 1e300}, "isn't a time"),
    ],
)
def test_a_row_that_is_no_query_is_named(tmp_path, row, said):
    file = lines(tmp_path / "log.jsonl", [issued(LONG, "ann"), row])
    with pytest.raises(CommandError, match=said):
        step("queries", file, "--to", tmp_path / "to")
    assert not (tmp_path / "to").exists()


@given(st.lists(st.tuples(st.integers(0, 20), st.sampled_from("abcd")), max_size=20), st.integers(0, 12))
def test_the_most_users_are_those_of_the_best_window(issued_at, window):
    found = sorted((float(at), user) for at, user in issued_at)
    windows = [{user for at, user in found if begin <= at <= begin + window} for begin, _ in found]
    assert most_users(iter(found), window) == max(map(len, windows), default=0)
