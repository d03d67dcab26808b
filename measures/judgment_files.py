"""Read judgments and true labels of any crowd from table files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from measures.agreement import Level
from measures.judgments import Judgments, Repeats, judgments_from
from storage.tables.frames import TableFault, read_frame
from storage.tables.values import Spelling, clean, is_not_finite, number_of

WORKER = ("worker", "annotator")
LONGEST = 10_000  # characters of an id or a label
# What programs and people write where a label is missing; any of them may also be one.
PLACEHOLDERS = frozenset(("none", "null", "na", "n/a", "-", "--", "?", "missing", "unknown", "undefined"))


class JudgmentFileError(ValueError):
    """A file can't be read; the message names file, line and column."""


@dataclass(frozen=True, slots=True)
class JudgmentOptions:
    """Options for reading a file of judgments.

    Attributes
    ----------
    labels
        All labels in order, smallest first. If empty, the labels in the file are used, with numbers ordered by size.
    missing
        Text in the label column that means there is no judgment, such as ``n/a``; such rows are left out.
    skip_empty
        Leave out rows with an empty cell instead of rejecting the file.
    """

    level: Level = Level.NOMINAL
    labels: Sequence[str] = ()
    missing: Sequence[str] = ()
    skip_empty: bool = False
    repeats: Repeats = Repeats.LAST
    encoding: str | None = None


@dataclass(slots=True)
class ReadCrowd:
    """Facts about a file of judgments besides the judgments: the spelling of its ids and labels, and skipped rows."""

    items: Spelling
    labels: Spelling
    rows: int
    notes: list[str] = field(default_factory=list)


class Crowd(NamedTuple):
    """The judgments of a file, and each annotator's median seconds if the file has them."""

    judgments: Judgments
    seconds: dict[str, float]
    read: ReadCrowd


def judgments_read(path: Path, asked: JudgmentOptions | None = None) -> Crowd:
    r"""Read rows of ``item,worker,label[,seconds]``, in any order of columns, from any table.

    Equal numbers are one label and one id, however they are written, where each label or id is a number.

    Raises
    ------
    JudgmentFileError

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item,worker,label\nq1,ann,1\nq1,bo,2\n")
    ...     file.flush()
    ...     crowd = judgments_read(Path(file.name))
    >>> crowd.judgments.labels
    ('1', '2')
    """
    asked = asked or JudgmentOptions()
    table, notes = _table(path, ("item", WORKER, "label"), ("seconds",), asked.encoding)
    rows = len(table)
    table = _judged(path, table, asked, notes)
    if table.empty:
        raise JudgmentFileError(f"{path}: no judgments" + (f" ({'; '.join(notes)})" if notes else ""))
    labels, given = _labels(path, table["label"], asked)
    spellings = {
        "item": Spelling.of(_values(table["item"])),
        "worker": Spelling.of(_values(table["worker"])),
        "label": labels,
    }
    notes += [
        f"column label: {text!r} counts as a label; if it stands for a missing one, leave it out with --missing {text!r}"
        for text in labels.canonical
        if text.casefold() in PLACEHOLDERS and text not in asked.labels
    ]
    for name, spelling in spellings.items():
        table[name] = _respelled(table[name], spelling.canonical)
        notes += spelling.notes(name)
    try:
        judgments = judgments_from(table, labels=given or None, repeats=asked.repeats)
    except ValueError as error:
        raise JudgmentFileError(f"{path}: {error}") from error
    return Crowd(judgments, _medians(path, table), ReadCrowd(spellings["item"], labels, rows, notes))


class LabelRow(NamedTuple):
    """A row of a table of labels, one per item; ``who`` and ``at`` are empty if the table doesn't have them."""

    line: int
    item: str
    label: str
    who: str
    at: str


def labels_read(path: Path, *, encoding: str | None = None, skip_unlabeled: bool = False) -> list[LabelRow]:
    r"""Read rows of ``item,label[,expert,at]`` in their order, as they are written. Each item has one row.

    Parameters
    ----------
    skip_unlabeled
        Leave out rows without a label, as in a table that is filled in from the top.

    Raises
    ------
    JudgmentFileError
        The file can't be read, a cell is empty, or an item has two rows.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("item,label\nq1,good\nq2,bad\n")
    ...     file.flush()
    ...     [row[:3] for row in labels_read(Path(file.name))]
    [(2, 'q1', 'good'), (3, 'q2', 'bad')]
    """
    table, _ = _table(path, ("item", "label"), ("expert", "at"), encoding)
    if skip_unlabeled:
        table = table[table["label"].ne("")].copy()
    _refuse_empty(path, table, ("item", "label"))
    for name in ("expert", "at"):
        if name not in table.columns:
            table[name] = ""
    found, seen = list[LabelRow](), dict[str, int]()
    for line, *cells in table[["item", "label", "expert", "at"]].itertuples(name=None):
        row = LabelRow(int(line), *map(str, cells))
        if row.item in seen:
            raise JudgmentFileError(
                f"{path}, line {line}, column item: {row.item!r} stands in line {seen[row.item]} too"
            )
        seen[row.item] = row.line
        found.append(row)
    return found


def truths_read(path: Path, crowd: Crowd, *, encoding: str | None = None) -> dict[str, str]:
    r"""Read rows of ``item,truth``, with ids and labels as a crowd's file writes them; note what met nothing.

    Raises
    ------
    JudgmentFileError
        An item has two different truths, or the file can't be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     given, known = Path(folder, "given.csv"), Path(folder, "known.csv")
    ...     _ = given.write_text("item,worker,label\nq1,ann,1\n"), known.write_text("item,truth\nq1,1.0\n")
    ...     truths_read(known, judgments_read(given))
    {'q1': '1'}
    """
    table, _ = _table(path, ("item", "truth"), (), encoding)
    _refuse_empty(path, table, ("item", "truth"))
    read, found = crowd.read, dict[str, str]()
    for line, item, truth in table[["item", "truth"]].itertuples(name=None):
        key, label = read.items.text(item), read.labels.text(truth)
        if found.setdefault(key, label) != label:
            raise JudgmentFileError(
                f"{path}, line {line}, column truth: {truth!r}, but {item!r} was {found[key]!r} before"
            )
    read.notes += _met(found, crowd.judgments)
    return found


def _met(truths: Mapping[str, str], judgments: Judgments) -> list[str]:
    """Return notes on truths without judgments and on judged items without a truth."""
    items, notes = set(judgments.items), []
    strange = [item for item in truths if item not in items]
    if len(strange) == len(truths):
        example = f" (a truth is of {strange[0]!r}, a judgment of {judgments.items[0]!r})" if strange else ""
        return [f"none of {len(truths):,} truths meets an item that was judged{example}"]
    if strange:
        notes.append(f"{len(strange):,} of {len(truths):,} truths meet no item that was judged, such as {strange[0]!r}")
    unknown = [item for item in judgments.items if item not in truths]
    if unknown:
        notes.append(f"{len(unknown):,} of {len(items):,} items have no truth, such as {unknown[0]!r}")
    nobody = sorted({label for item, label in truths.items() if item in items} - set(judgments.labels))
    if nobody:
        notes.append(f"truths that nobody gave as a label: {', '.join(map(repr, nobody[:5]))}")
    return notes


def _table(
    path: Path, wanted: Iterable[str | tuple[str, ...]], optional: Iterable[str], encoding: str | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the wanted columns under their canonical names, with cleaned cells, and notes about the file."""
    try:
        table, reading = read_frame(path, encoding=encoding)
    except TableFault as error:
        raise JudgmentFileError(str(error)) from error
    taken = {}
    for names in wanted:
        choices = (names,) if isinstance(names, str) else names
        there = [name for name in choices if name in table.columns]
        if not there:
            known = ", ".join(map(str, table.columns)) or "none"
            raise JudgmentFileError(f"{path}, line 1: no column {' or '.join(choices)}; there are {known}")
        taken[there[0]] = choices[0]
    taken |= {name: name for name in optional if name in table.columns}
    unused = [name for name in table.columns if name not in taken]
    notes = [*reading.said(), *([f"columns that weren't read: {', '.join(unused)}"] if unused else [])]
    table = table[list(taken)].rename(columns=taken)
    for name, column in table.items():
        table[name] = _respelled(column, {text: clean(text) for text in _values(column)})
        longest = max(_values(table[name]), key=len, default="")
        if len(longest) > LONGEST:
            where = _first(path, table[name], longest)
            raise JudgmentFileError(f"{where}: longer than {LONGEST:,} characters; is this the right column?")
    return table, notes


def _respelled(column: "pd.Series[Any]", of: Mapping[str, str]) -> "pd.Series[Any]":
    """Return a column with replaced texts as categories, so that later steps work with integer codes."""
    codes, texts = column.factorize()
    merged, values = pd.factorize(np.array([of[text] for text in texts], dtype=object))
    return pd.Series(pd.Categorical.from_codes(merged[codes], cast(Any, values)), index=column.index, name=column.name)


def _values(column: "pd.Series[Any]") -> list[str]:
    """Return the different texts of a column, in the order in which they first occur."""
    return [str(text) for text in column.unique()]


def _judged(path: Path, table: pd.DataFrame, asked: JudgmentOptions, notes: list[str]) -> pd.DataFrame:
    """Return the rows that hold a judgment, and note the number of other rows."""
    missing = table["label"].isin([clean(text) for text in asked.missing])
    if missing.any():
        notes.append(f"rows left out whose label is {' or '.join(map(repr, asked.missing))}: {int(missing.sum()):,}")
        table = table[~missing]
    if asked.skip_empty:
        empty = (table[["item", "worker", "label"]] == "").any(axis=1)
        if empty.any():
            notes.append(f"rows left out with an empty cell: {int(empty.sum()):,}")
        return table[~empty].copy()
    _refuse_empty(path, table, ("item", "worker", "label"))
    return table.copy()


def _refuse_empty(path: Path, table: pd.DataFrame, columns: Sequence[str]) -> None:
    for name in columns:
        empty = table[name].eq("")
        if empty.any():
            raise JudgmentFileError(f"{path}, line {empty.idxmax()}, column {name}: is empty")


def _labels(path: Path, column: "pd.Series[Any]", asked: JudgmentOptions) -> tuple[Spelling, list[str]]:
    """Return the spelling of labels, and all labels in order if the order was stated."""
    if asked.labels:
        return _said_labels(path, column, asked.labels, asked.level)
    numbers = [number_of(text) is not None for text in _values(column)]
    if asked.level is not Level.NOMINAL and not all(numbers):
        wrong = _values(column)[numbers.index(False)]
        order = ", or --labels LOW,…,HIGH gives their order" if asked.level is Level.ORDINAL else ""
        raise JudgmentFileError(
            f"{_first(path, column, wrong)}: {wrong!r} is not a number. At {asked.level.value} level labels are "
            f"numbers{order}; --missing {wrong!r} leaves such rows out"
        )
    for text, is_number in zip(_values(column), numbers, strict=True):
        is_nan = text.lower().lstrip("+-") == "nan"
        if is_not_finite(text) and (is_nan or sum(numbers) >= len(numbers) - 1 > 0) and not is_number:
            raise JudgmentFileError(
                f"{_first(path, column, text)}: {text!r} is not a number; --missing {text!r} leaves such rows out"
            )
    return Spelling.of(_values(column)), []


def _said_labels(path: Path, column: "pd.Series[Any]", said: Sequence[str], level: Level) -> tuple[Spelling, list[str]]:
    spelling = Spelling.of(said)
    if level in (Level.INTERVAL, Level.RATIO) and not spelling.is_number:
        raise JudgmentFileError(f"--labels: at {level.value} level labels are numbers")
    ordered = list(dict.fromkeys(spelling.canonical[label] for label in said))
    canonical = {text: spelling.text(text) for text in _values(column)}
    for text, label in canonical.items():
        if label not in ordered:
            raise JudgmentFileError(f"{_first(path, column, text)}: {text!r} is none of the labels {', '.join(said)}")
    whole = Spelling.of(canonical) if spelling.is_number else Spelling(False, canonical)
    return Spelling(spelling.is_number, canonical, whole.several, whole.alike), ordered


def _first(path: Path, column: "pd.Series[Any]", text: str) -> str:
    return f"{path}, line {column.eq(text).idxmax()}, column {column.name}"


def _medians(path: Path, table: pd.DataFrame) -> dict[str, float]:
    """Return the median seconds of each worker who has any."""
    if "seconds" not in table.columns:
        return {}
    texts = table["seconds"]
    of = {text: number_of(text) for text in _values(texts) if text}
    for text, number in of.items():
        if number is None:
            raise JudgmentFileError(f"{_first(path, texts, text)}: {text!r} is not a number")
    seconds = texts.map(
        {"": np.nan} | {text: float(number) for text, number in of.items() if number is not None}
    ).astype(float)
    medians = seconds.groupby(table["worker"], sort=False, observed=True).median().dropna()
    return {str(worker): float(value) for worker, value in medians.items()}
