"""Rows of any table: CSV, TSV, JSON, Parquet or a workbook, numbered as a person would count them.

A file is read by a child process with limits, so that unpacked data fills the child's memory and not ours.
"""

import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO, Any

from storage.child import child_end, child_start, limit_memory
from storage.lines import table_lines, unzipped
from storage.tables.columnar import parquet_rows, workbook_rows
from storage.tables.delimited import DelimitedTable
from storage.tables.encodings import as_utf8
from storage.tables.faults import RowError
from storage.tables.reading import Reading, Row

CHILD_BYTES = 2**30
MOST_VALUES = 10_000  # of one row, so that a row is not much larger here than it is in its file
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".xlsx")


class Rows(Iterator[Row]):
    """The rows of a file with their numbers; ``reading`` is complete once all rows have been read.

    Raises
    ------
    ValueError
        The file is of an unknown kind, isn't text in its encoding, or needs too much memory.
    """

    def __init__(self, file: IO[bytes], name: str, options: Mapping[str, Any]) -> None:
        self.reading = Reading()
        self._rows = self._read(file, name, options)

    def __next__(self) -> Row:
        return next(self._rows)

    def close(self) -> None:
        """End the reading child process."""
        self._rows.close()

    def _read(self, file: IO[bytes], name: str, options: Mapping[str, Any]) -> Generator[Row]:
        with _on_disk(file) as source:
            child = child_start("storage.tables.rows", name, str(CHILD_BYTES), json.dumps(options), stdin=source)
            try:
                assert child.stdout is not None
                for line in child.stdout:
                    found = json.loads(line)
                    if isinstance(found, dict):
                        self.reading = Reading(**found)
                        return
                    if isinstance(found, str):
                        raise ValueError(found)  # noqa: TRY004  the child's sentence about the file
                    number, row, *column = found
                    yield number, RowError(row, column[0]) if column else row
                raise ValueError(f"{name}: needs more memory to be read than allowed")
            finally:
                child_end(child)


def read_rows(
    file: IO[bytes], name: str, *, encoding: str | None = None, fold: bool = True, quoted: bool = False
) -> Rows:
    """Return the rows of a file, by its name: tables with a header, JSON lines, or a JSON array; gzip too.

    Parameters
    ----------
    encoding
        The encoding of a CSV or TSV file that is neither UTF-8 nor has a byte order mark.
    fold
        Whether names of columns are compared without case and spaces, see `storage.tables.delimited.folded`.
    quoted
        Whether cells of a TSV file may be in quotation marks, as in CSV: some programs write them.
    """
    return Rows(file, name, {"encoding": encoding, "fold": fold, "quoted": quoted})


@contextmanager
def _on_disk(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a file, from its beginning, in a form that another process can read."""
    try:
        number = file.fileno()
    except OSError:
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            yield copy
    else:
        file.flush()
        os.lseek(number, 0, os.SEEK_SET)  # a buffered file would move its own pointer only
        yield file


def _serve(name: str, most_bytes: int, options: Mapping[str, Any]) -> None:
    """Write a line per row of standard input, then the notes; if the file can't be used, an error message instead."""
    limit_memory(most_bytes)
    reading = Reading()
    try:
        for number, row in parse_rows(sys.stdin.buffer, name, reading, **options):
            line = [number, str(row), row.column] if isinstance(row, RowError) else [number, row]
            sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.write(f"{json.dumps(asdict(reading))}\n")
    except MemoryError:
        pass  # the parent says so
    except ValueError as error:
        sys.stdout.write(f"{json.dumps(str(error))}\n")
    except Exception as error:  # noqa: BLE001  whatever a file provokes is that file's error, said in one line
        sys.stdout.write(f"{json.dumps(f'{name}: cannot be read ({type(error).__name__}: {error})')}\n")


def parse_rows(
    file: IO[bytes],
    name: str,
    reading: Reading | None = None,
    *,
    encoding: str | None = None,
    fold: bool = True,
    quoted: bool = False,
) -> Iterator[Row]:
    """Yield the rows of a file as `read_rows` does, in this process; fill in the notes about the file."""
    for number, row in _parsed(
        file, name, Reading() if reading is None else reading, encoding, fold=fold, quoted=quoted
    ):
        problem = "" if isinstance(row, RowError) else _problem(row)
        yield number, RowError(problem, "line") if problem else row


def _problem(row: Mapping[str, Any]) -> str:
    """Return the reason why a row can't be stored: too many values at any depth, or invalid text."""
    waiting: list[Any] = [row]
    count = 0
    while waiting:
        value = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            return f"more than {MOST_VALUES:,} values"
        if isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str) and not _is_text(value):
            return "text with half a character or NUL in it"
    return ""


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\x00" not in value


def _parsed(
    file: IO[bytes], name: str, reading: Reading, encoding: str | None, *, fold: bool, quoted: bool
) -> Iterator[Row]:
    lower = name.lower()
    if lower.endswith(".gz"):
        file, lower = unzipped(file), lower.removesuffix(".gz")
    if lower.endswith((".csv", ".tsv")):
        yield from DelimitedTable(as_utf8(file, encoding), name, reading, fold=fold, quoted=quoted).rows()
    elif lower.endswith((".jsonl", ".ndjson")):
        yield from _counted(_json_lines(as_utf8(file, encoding)), reading)
    elif lower.endswith(".json"):
        yield from _counted(_json_array(as_utf8(file, encoding), name), reading)
    elif name.lower().endswith(".parquet"):
        yield from parquet_rows(file, name, reading, fold=fold)
    elif name.lower().endswith(".xlsx"):
        yield from workbook_rows(file, name, reading, fold=fold)
    else:
        raise ValueError(f"{name}: expected {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def _counted(rows: Iterator[Row], reading: Reading) -> Iterator[Row]:
    for row in rows:
        reading.rows += 1
        yield row


def _json_lines(file: IO[bytes]) -> Iterator[Row]:
    for number, line in table_lines(file):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, RowError(f"not JSON: {error}", "line")
            continue
        yield number, row if isinstance(row, dict) else RowError("not a JSON object", "line")


def _json_array(file: IO[bytes], name: str) -> Iterator[Row]:
    """Yield the objects of one JSON array, with only a piece of the file in memory at a time."""
    text = io.TextIOWrapper(file, encoding="utf-8")
    decoder = json.JSONDecoder()
    buffer, number = "", 0
    try:
        piece = text.read(2**20)
        if piece.lstrip()[:1] != "[":
            raise ValueError(f"{name}: expected a JSON array of objects")
        while piece:
            buffer += piece
            position = 0
            while (element := _next_object(decoder, buffer, position)) is not None:
                row, position = element
                number += 1
                yield number, row
            buffer = buffer[position:].lstrip("[, \t\r\n")  # so that blanks are looked at once
            if len(buffer) > 2**26:
                break
            piece = text.read(2**20)
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not valid UTF-8 ({error.reason} at byte {error.start})") from error
    if buffer.lstrip("[, \t\r\n").rstrip() != "]":
        raise ValueError(f"{name}: element {number + 1} is no whole JSON object")


def _next_object(decoder: json.JSONDecoder, buffer: str, position: int) -> tuple[dict[str, Any], int] | None:
    """Return the object after a position and its end, or None if the object isn't completely loaded yet."""
    start = position
    while start < len(buffer) and buffer[start] in "[, \t\r\n":
        start += 1
    if start == len(buffer) or buffer[start] != "{":
        return None
    try:
        return decoder.raw_decode(buffer, start)
    except RecursionError:
        raise ValueError("an element nests too deeply") from None
    except ValueError:
        return None


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
