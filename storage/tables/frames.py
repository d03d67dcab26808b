"""Whole tables in memory, as pandas DataFrames of text, read by the same rules as streams of rows."""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from storage.lines import unzipped
from storage.tables.delimited import DelimitedTable
from storage.tables.encodings import as_utf8
from storage.tables.faults import RowError
from storage.tables.reading import Reading, Row
from storage.tables.rows import parse_rows
from storage.tables.values import text_of


class TableFault(ValueError):
    """A file can't be read as a table; the message names file, line and column."""


def read_frame(path: Path, *, encoding: str | None = None) -> tuple[pd.DataFrame, Reading]:
    """Return a file's rows as text, indexed by the line in which each begins (workbooks and Parquet: by the row).

    Reads tables with a header (CSV, TSV, Excel, Parquet), JSON lines and JSON arrays, by the file's name; columns are
    `folded`.

    Raises
    ------
    TableFault
        The file can't be read, or a row has more or fewer cells than the header.
    """
    reading, name = Reading(), path.name.lower()
    try:
        with path.open("rb") as raw:
            if name.removesuffix(".gz").endswith((".csv", ".tsv")):
                content = as_utf8(unzipped(raw) if name.endswith(".gz") else raw, encoding)
                return _delimited(content, path.name, reading), reading
            return _framed(parse_rows(raw, path.name, reading, encoding=encoding), reading.columns), reading
    except (OSError, ValueError) as error:
        raise TableFault(_with_path(path, str(error))) from error


def _with_path(path: Path, message: str) -> str:
    """Return a message that begins with the whole path, whether it began with the file's name, a line or neither."""
    if message.startswith(path.name):
        return f"{path}{message.removeprefix(path.name)}"
    return f"{path}{', ' if message.startswith('line ') else ': '}{message}"


def _delimited(file: IO[bytes], name: str, reading: Reading) -> pd.DataFrame:
    """Return the rows of CSV or TSV; pandas reads them if they can be understood in only one way."""
    data = file.read()
    content = io.BytesIO(data)
    table = DelimitedTable(content, name, reading, fold=True)
    body = data[content.tell() :]
    if "" in table.columns or not _is_plain(body, table):
        return _framed(table.rows(), table.columns)
    frame = pd.read_csv(
        io.BytesIO(body),
        sep=table.dialect.delimiter,
        header=None,
        names=table.columns,
        index_col=False,
        dtype=str,
        na_filter=False,
        quoting=csv.QUOTE_NONE,
        skip_blank_lines=False,
        low_memory=False,
    )
    frame.index = pd.RangeIndex(table.header_line + 1, table.header_line + 1 + len(frame))
    is_blank = frame.apply(lambda column: column.str.strip() == "").all(axis=1)
    reading.rows, reading.blank = int((~is_blank).sum()), int(is_blank.sum())
    found: pd.DataFrame = frame[~is_blank]
    return found


def _is_plain(body: bytes, table: DelimitedTable) -> bool:
    """Return whether each line is a row, delimiters always separate cells, and all rows have the same length."""
    if body.startswith(codecs.BOM_UTF8):  # part of the first cell; pandas would take it off
        return False
    if (table.dialect.has_quotes and b'"' in body) or b"\0" in body or body.count(b"\r") != body.count(b"\r\n"):
        return False
    if not body or not _is_utf8(body):
        return False
    signs = np.frombuffer(body if body.endswith(b"\n") else body + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(signs == ord("\n"))
    delimiters = np.searchsorted(np.flatnonzero(signs == ord(table.dialect.delimiter)), ends)
    lengths = np.diff(ends, prepend=-1) - 1
    is_blank = (lengths == 0) | ((lengths == 1) & (signs[ends - 1] == ord("\r")))
    return bool((is_blank | (np.diff(delimiters, prepend=0) == len(table.columns) - 1)).all())


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _framed(rows: Iterable[Row], columns: Sequence[str]) -> pd.DataFrame:
    numbers, found = [], []
    for number, row in rows:
        if isinstance(row, RowError):
            raise TableFault(f"line {number}: {row}")
        if columns and None in row.values():
            filled = sum(value is not None for value in row.values())
            raise TableFault(f"line {number}: the header has {len(row)} columns, this row {filled}")
        numbers.append(number)
        found.append({name: text_of(value) for name, value in row.items()})
    return pd.DataFrame(found, index=numbers, columns=[name for name in columns if name] or None, dtype=str).fillna("")
