"""Rows of an import file, numbered as a person counts them.

A file is read by a child process with limits: what it unpacks to fills the child's memory and not ours.
"""

import csv
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from annotation.tasktypes.base import RowError
from documents.child import child_end, child_start, limit_memory
from documents.lines import LineTooLong, read_lines, unzipped

Row = tuple[int, Mapping[str, Any] | RowError]

csv.field_size_limit(2**24)
CHILD_BYTES = 2**30
MOST_BLANK_LINES = 100_000  # one after another
MOST_VALUES = 10_000  # of one row, so that a row is not much larger here than it is in its file


def read_rows(file: IO[bytes], name: str) -> Iterator[Row]:
    """Yield (row number, row or what is wrong with it) from a file, by its name.

    JSON lines, one JSON array of objects (as nfL6 is), or CSV with a header; gzip too.

    Raises
    ------
    ValueError
        The file is neither, is not UTF-8, or needs too much memory to be read.
    """
    with _on_disk(file) as source:
        child = child_start("annotation.rows", name, str(CHILD_BYTES), stdin=source)
        try:
            assert child.stdout is not None
            for line in child.stdout:
                found = json.loads(line)
                if found is None:
                    return
                if isinstance(found, str):
                    raise ValueError(found)  # noqa: TRY004  the child's sentence about the file
                number, row, *column = found
                yield number, RowError(row, column[0]) if column else row
            raise ValueError(f"{name}: needs more memory to be read than allowed")
        finally:
            child_end(child)


@contextmanager
def _on_disk(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Give a file from its beginning in a form that another process can read."""
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


def _serve(name: str, most_bytes: int) -> None:
    """Write a line for each row of standard input, then null; a sentence instead if the file is of no use."""
    limit_memory(most_bytes)
    try:
        for number, row in parse_rows(sys.stdin.buffer, name):
            line = [number, str(row), row.column] if isinstance(row, RowError) else [number, row]
            sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.write("null\n")
    except MemoryError:
        pass  # the parent says so
    except ValueError as error:
        sys.stdout.write(f"{json.dumps(str(error))}\n")
    except Exception as error:  # noqa: BLE001  whatever a file provokes is that file's error, said in one line
        sys.stdout.write(f"{json.dumps(f'{name}: cannot be read ({type(error).__name__}: {error})')}\n")


def parse_rows(file: IO[bytes], name: str) -> Iterator[Row]:
    """Yield the rows of a file as `read_rows` does, in this process."""
    for number, row in _parsed(file, name):
        problem = "" if isinstance(row, RowError) else _problem(row)
        yield number, RowError(problem, "line") if problem else row


def _problem(row: Mapping[str, Any]) -> str:
    """Return why a row cannot be kept, whatever it means: too many values at any depth, or text that is none."""
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


def _parsed(file: IO[bytes], name: str) -> Iterator[Row]:
    lower = name.lower()
    if lower.endswith(".gz"):
        file, lower = unzipped(file), lower.removesuffix(".gz")
    if lower.endswith((".jsonl", ".ndjson")):
        yield from _json_lines(file)
    elif lower.endswith(".json"):
        yield from _json_array(file, name)
    elif lower.endswith((".csv", ".tsv")):
        yield from _table(file, name, "\t" if lower.endswith(".tsv") else ",")
    else:
        raise ValueError(f"{name}: expected .jsonl, .json, .csv or .tsv")


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file; one that is nothing but blank lines from somewhere on is of no use."""
    blank = 0
    for number, line in read_lines(file, max_bytes=2**24):
        blank = 0 if line.strip() else blank + 1
        if blank > MOST_BLANK_LINES:
            raise LineTooLong(f"line {number} is one of more than {MOST_BLANK_LINES:,} blank ones")
        yield number, line


def _json_lines(file: IO[bytes]) -> Iterator[Row]:
    for number, line in _lines(file):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, RowError(f"not JSON: {error}", "line")
            continue
        yield number, row if isinstance(row, dict) else RowError("not a JSON object", "line")


def _json_array(file: IO[bytes], name: str) -> Iterator[Row]:
    """Yield the objects of one JSON array, a piece of the file in memory at a time."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig")
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
    """Return the object that begins after a position and where it ends, or None if it is not all there yet."""
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


def _table(file: IO[bytes], name: str, delimiter: str) -> Iterator[Row]:
    lines = (line.decode("utf-8-sig" if number == 1 else "utf-8") for number, line in _lines(file))
    reader = csv.DictReader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if None in row:
                yield reader.line_num, RowError("more cells than the header has columns", "line")
            else:
                yield reader.line_num, row
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not valid UTF-8 ({error.reason} at byte {error.start})") from error
    except csv.Error as error:
        raise ValueError(f"{name}, line {reader.line_num}: {error}") from error
    except LineTooLong as error:
        raise ValueError(f"{name}: {error}") from error


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
