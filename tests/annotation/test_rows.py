"""Import files that were made to hurt: bombs, endless lines, half a character."""

import gzip
import io
import tracemalloc

import pytest

from annotation.rows import read_rows
from documents.lines import BlownUp


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
    assert most < 300 * 2**20


def test_many_small_rows_from_a_bomb_are_refused_too(monkeypatch):
    monkeypatch.setattr("documents.lines.RATIO_FREE_BYTES", 2**20)
    packed = io.BytesIO(gzip.compress(b"id,question\n" + b"1,q\n" * 1_000_000))
    with pytest.raises(BlownUp):
        for _ in read_rows(packed, "x.csv.gz"):
            pass


def test_a_line_of_a_table_has_a_limit():
    with pytest.raises(ValueError, match="line 2 is longer than"):
        list(read_rows(io.BytesIO(b"id,question\n1," + b"a" * 2**25), "x.csv"))


@pytest.mark.parametrize("text", ['id,question\r\n1,"two\r\nlines"\r\n', '\ufeffid,question\n1,"two\nlines"\n'])
def test_a_cell_may_hold_a_line_break(text):
    [(_, row)] = read_rows(io.BytesIO(text.encode()), "x.csv")
    assert (row["id"], row["question"].split()) == ("1", ["two", "lines"])


def test_half_a_character_is_named_by_the_file():
    with pytest.raises(ValueError, match=r"x\.csv: not valid UTF-8"):
        list(read_rows(io.BytesIO(b"id,question\n1,\xc3"), "x.csv"))
