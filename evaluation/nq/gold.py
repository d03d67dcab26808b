"""Annotations from published files, read without parsing the page that takes up nearly all of each line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import orjson
from isal import igzip
from isal.igzip_lib import IsalError

from evaluation.nq.answers import YES_NO, AnswerFault, Gold, span_of
from evaluation.nq.table import TableFault, examples_of_table
from storage.lines import MAX_LINE_BYTES, DamagedFile, LineTooLong, check_ratio, check_values

BUFFER = 1 << 20
EDGE = 1 << 18  # bytes at either end of a line that are looked at first
_BEGINS = b'{"annotations":['
_ID = b'"example_id"'
# Strings and brackets of JSON: enough to find where an array ends.
_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]]')


class GoldFault(ValueError):
    """An annotation file cannot be read; the message names file, line and field."""


def read_gold(paths: Iterable[Path]) -> dict[int, list[Gold]]:
    """Return the annotations of each example from several files: shards or annotation tables.

    Raises
    ------
    GoldFault
        A file is damaged, a record breaks the format, or an example occurs twice.
    """
    files = sorted(paths)
    if not files:
        raise GoldFault("no file with annotations was given")
    found: dict[int, list[Gold]] = {}
    with ThreadPoolExecutor() as pool:  # decompression lets other threads run
        for path, examples in zip(files, pool.map(_read_file, files), strict=True):
            for line, example_id, annotations in examples:
                if example_id in found:
                    raise GoldFault(f"{path}: line {line}: example_id: {example_id} stands in these files twice")
                found[example_id] = annotations
    return found


def _read_file(path: Path) -> Iterable[tuple[int, int, list[Gold]]]:
    """Return the examples of a file. Tables are read lazily, since threads would only wait for each other."""
    return _examples_of_table(path) if path.suffix == ".parquet" else list(_examples(path))


def _examples_of_table(path: Path) -> Iterator[tuple[int, int, list[Gold]]]:
    try:
        yield from examples_of_table(path)
    except TableFault as fault:
        raise GoldFault(f"{path}: {fault}") from fault


def _examples(path: Path) -> Iterator[tuple[int, int, list[Gold]]]:
    line = 0
    try:
        with path.open("rb") as raw:
            is_packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file = igzip.IGzipFile(fileobj=raw) if is_packed else raw
            for line, text in enumerate(_lines(file, raw), 1):
                if not _is_blank(text):
                    yield line, *_example(text)
    except (DamagedFile, LineTooLong) as error:
        raise GoldFault(f"{path}: line {line + 1}: {error}") from error
    except AnswerFault as fault:
        raise GoldFault(f"{path}: line {line}: {fault}") from fault
    except (OSError, EOFError, IsalError) as error:  # type: ignore[misc]  # its stub says Any
        raise GoldFault(f"{path}: line {line + 1}: {error}") from error


Line = list[memoryview]  # its bytes in pieces, as they were read


def _lines(file: Any, raw: IO[bytes]) -> Iterator[Line]:
    """Yield lines without copying them: each is about a megabyte, and only a few thousand bytes of it are needed.

    Raises
    ------
    BlownUp, LineTooLong
    """
    pieces: Line = []
    read = 0
    while block := file.read(BUFFER):
        read += len(block)
        check_ratio(read, raw.tell())
        view, start = memoryview(block), 0
        while (cut := block.find(b"\n", start)) >= 0:
            yield [*pieces, view[start:cut]]
            pieces, start = [], cut + 1
        pieces.append(view[start:])
        if len(pieces) * BUFFER > MAX_LINE_BYTES:
            raise LineTooLong(f"is longer than {MAX_LINE_BYTES:,} bytes")
    yield pieces


def _is_blank(line: Line) -> bool:
    start = _edge(line, last=False)
    return not start or start.isspace()


def _edge(line: Line, *, last: bool) -> bytes:
    """Return the first or last bytes of a line."""
    found: Line = []
    missing = EDGE
    for piece in reversed(line) if last else line:
        found.append(piece[-missing:] if last else piece[:missing])
        missing -= len(found[-1])
        if not missing:
            break
    return b"".join(reversed(found) if last else found)


def _example(line: Line) -> tuple[int, list[Gold]]:
    found = _quick(_edge(line, last=False), _edge(line, last=True))
    example_id, annotations = found if found is not None else _whole(b"".join(line))
    if not annotations:
        raise AnswerFault("annotations", "there is none: nothing can be scored against it")
    return example_id, [_gold(one, f"annotations[{number}]") for number, one in enumerate(annotations)]


def _quick(head: bytes, tail: bytes) -> tuple[int, list[Any]] | None:
    """Return id and annotations of a line with the layout of the published files; None for any other line.

    In that layout, the annotations come first and little follows the id. That text must be the end of a JSON object,
    beginning with the id: then the id belongs to the record, even if nested objects have a key with that name.
    """
    at = tail.rfind(_ID)
    end = _array_end(head, len(_BEGINS) - 1) if head.startswith(_BEGINS) and at >= 0 else 0
    if not end:
        return None
    try:
        rest = orjson.loads(b"{" + tail[at:])
        annotations = orjson.loads(head[len(_BEGINS) - 1 : end])
    except orjson.JSONDecodeError:
        return None
    example_id = rest.get("example_id")
    return (example_id, annotations) if type(example_id) is int and "annotations" not in rest else None


def _array_end(line: bytes, start: int) -> int:
    """Return the position after the array that begins at ``start``; 0 if the array doesn't end."""
    depth = 0
    for mark in _MARKS.finditer(line, start):
        if mark.group() == b"[":
            depth += 1
        elif mark.group() == b"]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return 0


def _whole(line: bytes) -> tuple[int, list[Any]]:
    try:
        check_values(line, "it")
        record = orjson.loads(line)
    except LineTooLong as error:
        raise AnswerFault("line", str(error)) from error
    except orjson.JSONDecodeError as error:
        raise AnswerFault("line", f"isn't valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise AnswerFault("line", "isn't a JSON object")
    if type(record.get("example_id")) is not int:
        raise AnswerFault("example_id", "expected a whole number")
    if not isinstance(record.get("annotations"), list):
        raise AnswerFault("annotations", "expected a list")
    return record["example_id"], record["annotations"]


def _gold(value: Any, field: str) -> Gold:
    if not isinstance(value, Mapping):
        raise AnswerFault(field, "expected an object")
    shorts = value.get("short_answers")
    if not isinstance(shorts, list):
        raise AnswerFault(f"{field}.short_answers", "expected a list")
    spans = (span_of(span, f"{field}.short_answers[{number}]") for number, span in enumerate(shorts))
    yes_no = value.get("yes_no_answer")
    if not isinstance(yes_no, str) or yes_no.lower() not in YES_NO:
        raise AnswerFault(f"{field}.yes_no_answer", "expected YES, NO or NONE")
    long = span_of(value.get("long_answer"), f"{field}.long_answer")
    return Gold(long, tuple(span for span in spans if span is not None), yes_no.lower())
