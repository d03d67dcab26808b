"""Import files that were made to hurt: bombs, endless lines, half a character."""

import gzip
import io
import tracemalloc

import pytest

from documents.html.published import PublishedError, read_records
from documents.intake import read_pages
from storage.child import child_start
from storage.lines import BlownUp, LineTooLong
from storage.tables.faults import RowError
from storage.tables.rows import parse_rows, read_rows


def bomb(first: bytes) -> io.BytesIO:
    """Return a small gzip file that unpacks to 400 MB after its first bytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        file.write(first)
        for _ in range(400):
            file.write(b"a" * 10**6)
    packed.seek(0)
    return packed


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("x.csv.gz", b"id,question\n1,"),
        ("x.jsonl.gz", b'{"id": "'),
        ("x.json.gz", b'[{"id": "'),
        ("x.tsv.gz", b'id\n"'),
    ],
)
def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(name, first):
    packed = bomb(first)
    assert len(packed.getvalue()) < 10**6
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"unpacks to more than|longer than|no whole JSON"):
        list(read_rows(packed, name))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10 * 2**20  # the child's memory is not ours


def test_a_file_that_needs_too_much_memory_ends_its_reader_and_nothing_else(monkeypatch):
    monkeypatch.setattr("storage.tables.rows.CHILD_BYTES", 64 * 2**20)
    row = b'{"id": "1", "question": "%s"}\n' % (b"a" * (15 * 2**20))
    with pytest.raises(ValueError, match=r"x\.jsonl: needs more memory"):
        list(read_rows(io.BytesIO(row), "x.jsonl"))


@pytest.mark.parametrize("many", [b"[" + b"[]," * 20_000 + b"1]", b"[" * 500 + b"0," * 20_000 + b"0" + b"]" * 500])
def test_a_row_of_countless_values_is_refused_and_the_next_is_read(many):
    lines = b'{"id": "1", "x": %s}\n{"id": "2"}\n' % many
    (first, wrong), (second, row) = read_rows(io.BytesIO(lines), "x.jsonl")
    assert (first, isinstance(wrong, RowError), second, row) == (1, True, 2, {"id": "2"})
    assert "more than 10,000 values" in str(wrong)


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_what_nests_without_end_is_refused(name):
    deep = b'{"id": ' * 100_000
    if name == "x.json":
        with pytest.raises(ValueError, match="nests too deeply"):
            list(read_rows(io.BytesIO(b"[" + deep), name))
    else:
        [(_, wrong)] = read_rows(io.BytesIO(deep), name)
        assert "recursion" in str(wrong)


def test_many_small_rows_from_a_bomb_are_refused_too(monkeypatch):
    monkeypatch.setattr("storage.lines.RATIO_FREE_BYTES", 2**20)
    packed = io.BytesIO(gzip.compress(b"id,question\n" + b"1,q\n" * 1_000_000))
    with pytest.raises(BlownUp):
        for _ in parse_rows(packed, "x.csv.gz"):
            pass


@pytest.mark.parametrize(
    ("name", "first"), [("x.csv", b"id,question\n"), ("x.jsonl", b'{"id": "1"}\n'), ("x.tsv", b"id\tquestion\n")]
)
def test_a_file_that_goes_on_with_blank_lines_is_given_up(name, first):
    with pytest.raises(ValueError, match="more than 100,000 blank ones"):
        list(read_rows(io.BytesIO(first + b"\n" * 30_000_000), name))


def test_blanks_between_elements_are_looked_at_once():
    spaced = b"[" + b" " * 20_000_000 + b'{"id": "1"}' + b" " * 5_000_000 + b"]"
    assert list(read_rows(io.BytesIO(spaced), "x.json")) == [(1, {"id": "1"})]


@pytest.mark.parametrize("text", ["\\ud800", "a\\u0000b"])
def test_text_that_no_database_keeps_is_a_wrong_row(text):
    lines = f'{{"id": "{text}"}}\n{{"x": {{"{text}": 1}}}}\n{{"id": "2"}}\n'
    rows = list(read_rows(io.BytesIO(lines.encode()), "x.jsonl"))
    assert [str(row) for _, row in rows[:2]] == ["text with half a character or NUL in it"] * 2
    assert rows[2] == (3, {"id": "2"})


def test_a_reader_whose_rows_nobody_wants_any_more_ends(monkeypatch):
    started = []

    def start(*arguments, **pipes):
        started.append(child_start(*arguments, **pipes))
        return started[-1]

    monkeypatch.setattr("storage.tables.rows.child_start", start)
    rows = read_rows(io.BytesIO(b'{"id": "1"}\n' * 200_000), "x.jsonl")
    assert next(rows) == (1, {"id": "1"})
    rows.close()
    assert started[0].poll() is not None


def test_pages_and_examples_of_countless_values_are_refused():
    for values in (b"0," * 4_000_001, b'{"a":0},' * 1_400_000, b"[[[]]]," * 1_100_000):
        line = b'{"html": [' + values + b"0]}"
        with pytest.raises(LineTooLong, match="line 1 holds more values than 4,000,000 marks"):
            list(read_pages(io.BytesIO(line), "x.jsonl", max_bytes=99))
        with pytest.raises(PublishedError, match="line 1 holds more values than 4,000,000 marks"):
            list(read_records(io.BytesIO(line)))


def test_a_line_of_a_table_has_a_limit():
    with pytest.raises(ValueError, match="line 2 is longer than"):
        list(read_rows(io.BytesIO(b"id,question\n1," + b"a" * 2**25), "x.csv"))


@pytest.mark.parametrize("text", ['id,question\r\n1,"two\r\nlines"\r\n', '\ufeffid,question\n1,"two\nlines"\n'])
def test_a_cell_may_hold_a_line_break(text):
    [(_, row)] = read_rows(io.BytesIO(text.encode()), "x.csv")
    assert (row["id"], row["question"].split()) == ("1", ["two", "lines"])


def test_half_a_character_is_named_by_the_file():
    with pytest.raises(ValueError, match=r"x\.csv, line 2: not valid UTF-8"):
        list(read_rows(io.BytesIO(b"id,question\n1,\xc3"), "x.csv"))
