"""Read judgments and truths of anybody's crowd from CSV."""

import csv
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from quality.rules.judgments import Judgments, Repeats, judgments_of

LONGEST = 2**17  # signs of a line; Python's reader takes as many of a cell
WORKER = ("worker", "annotator")


class JudgmentFileError(ValueError):
    """A file cannot be read; the message names file, line and column."""


class Crowd(NamedTuple):
    """The judgments of a file, and the median seconds of each annotator where the file has them."""

    judgments: Judgments
    seconds: dict[str, float]


def judgments_read(path: Path, *, repeats: Repeats = Repeats.LAST) -> Crowd:
    """Read rows of ``item,worker,label[,seconds]``, in any order of columns; others are passed over.

    Raises
    ------
    JudgmentFileError
    """
    rows: list[tuple[str, str, str]] = []
    times: dict[str, list[float]] = defaultdict(list)
    for line, item, worker, label, seconds in _rows(path, ("item", WORKER, "label"), optional="seconds"):
        rows.append((item, worker, label))
        if seconds:
            times[worker].append(_seconds(path, line, seconds))
    if not rows:
        raise JudgmentFileError(f"{path}: no judgments")
    try:
        judgments = judgments_of(rows, repeats=repeats)
    except ValueError as error:
        raise JudgmentFileError(f"{path}: {error}") from error
    return Crowd(judgments, {worker: statistics.median(values) for worker, values in times.items()})


def truths_read(path: Path) -> dict[str, str]:
    """Read rows of ``item,truth``; an item with two different truths is an error."""
    found: dict[str, str] = {}
    for line, item, truth in _rows(path, ("item", "truth")):
        if found.setdefault(item, truth) != truth:
            raise JudgmentFileError(f"{path}, line {line}, column truth: {item!r} was {found[item]!r} before")
    return found


def _seconds(path: Path, line: int, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise JudgmentFileError(f"{path}, line {line}, column seconds: {value!r} is not a number") from None


def _rows(path: Path, wanted: Sequence[str | tuple[str, ...]], *, optional: str = "") -> Iterator[tuple[Any, ...]]:
    """Yield the line number and the cells of each row, the last one empty where the optional column is missing."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(_lines(file))
            header = [name.strip().lower() for name in next(reader, [])]
            places = [_place(path, header, names) for names in wanted]
            extra = header.index(optional) if optional in header else None
            for row in reader:
                if not row:
                    continue
                if len(row) < len(header):
                    raise JudgmentFileError(f"{path}, line {reader.line_num}: {len(row)} columns, not {len(header)}")
                cells = [row[place].strip() for place in places]
                if "" in cells:
                    column = header[places[cells.index("")]]
                    raise JudgmentFileError(f"{path}, line {reader.line_num}, column {column}: is empty")
                if optional:
                    cells.append(row[extra].strip() if extra is not None else "")
                yield reader.line_num, *cells
    except (OSError, UnicodeError, csv.Error) as error:
        raise JudgmentFileError(f"{path}: {error}") from error


def _lines(file: IO[str]) -> Iterator[str]:
    """Yield lines, none longer than a row of judgments ever is."""
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise csv.Error(f"a line is longer than {LONGEST:,} signs")
        yield line


def _place(path: Path, header: list[str], names: str | tuple[str, ...]) -> int:
    choices = (names,) if isinstance(names, str) else names
    for name in choices:
        if name in header:
            return header.index(name)
    raise JudgmentFileError(
        f"{path}, line 1: no column {' or '.join(choices)}; there are {', '.join(header) or 'none'}"
    )
