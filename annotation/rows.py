"""Rows of an import file, numbered as a person counts them."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from annotation.tasktypes.base import RowError
from documents.lines import LineTooLong, read_lines, unzipped

csv.field_size_limit(2**24)


def read_rows(file: IO[bytes], name: str) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    """Yield (row number, row or what is wrong with it) from a file, by its name.

    JSON lines, one JSON array of objects (as nfL6 is), or CSV with a header; gzip too.

    Raises
    ------
    ValueError
        The file is neither, or is not UTF-8.
    """
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


def _json_lines(file: IO[bytes]) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    for number, line in read_lines(file, max_bytes=2**24):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield number, RowError(f"not JSON: {error}", "line")
            continue
        yield number, row if isinstance(row, dict) else RowError("not a JSON object", "line")


def _json_array(file: IO[bytes], name: str) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
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
            buffer = buffer[position:]
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
    except ValueError:
        return None


def _table(file: IO[bytes], name: str, delimiter: str) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    lines = (line.decode("utf-8-sig" if number == 1 else "utf-8") for number, line in read_lines(file, max_bytes=2**24))
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
