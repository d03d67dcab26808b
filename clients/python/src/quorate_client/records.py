"""Records of any kind as JSON lines: dicts, pandas DataFrames, and datasets of Hugging Face."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import IO, Any

import msgspec

KINDS = {
    ".jsonl": "application/x-ndjson",
    ".ndjson": "application/x-ndjson",
    ".json": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/vnd.apache.parquet",
    ".html": "text/html",
    ".htm": "text/html",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".txt": "text/plain",
}


def rows_of(records: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of records.

    Parameters
    ----------
    records
        Dicts, a pandas DataFrame, or a dataset of Hugging Face.

    Raises
    ------
    TypeError
        A record isn't a dict.
    """
    if hasattr(records, "to_dict") and hasattr(records, "columns"):  # a DataFrame, in pieces
        for begin in range(0, len(records), 1000):
            yield from records.iloc[begin : begin + 1000].to_dict("records")
        return
    if isinstance(records, str | bytes | Mapping):
        raise TypeError("records must be several dicts, a DataFrame or a dataset")
    for number, row in enumerate(records, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"record {number} is no dict but {type(row).__name__}")
        yield row


def lines_of(records: Any, mapping: Mapping[str, str] | None = None) -> Iterator[bytes]:
    """Yield records as JSON lines.

    Parameters
    ----------
    mapping
        New names of columns by their old ones. Columns that it doesn't name stay as they are.
    """
    names = mapping or {}
    encoder = msgspec.json.Encoder(enc_hook=_plain)
    for row in rows_of(records):
        yield encoder.encode({names.get(name, name): _known(value) for name, value in row.items()}) + b"\n"


def _known(value: Any) -> Any:
    """Return None for pandas' NaN and NaT, which mean that there is no value."""
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124  NaN is not itself


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a value of type {type(value).__name__} can't be written as JSON")


def spooled(lines: Iterable[bytes]) -> IO[bytes]:
    """Return lines as a temporary file: its size is known, and a repeated request sends the same bytes."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    for line in lines:
        file.write(line)
    file.seek(0)
    return file


def kind_of(name: str) -> str:
    """Return the content type of a file, by its name.

    Raises
    ------
    ValueError
        The ending isn't known.
    """
    ending = Path(name).suffix.lower()
    try:
        return KINDS[ending]
    except KeyError:
        raise ValueError(f"{name}: the format isn't known by its ending; known: {', '.join(KINDS)}") from None


def table_of(rows: list[dict[str, Any]], kind: type[msgspec.Struct]) -> Any:
    """Return rows as a pandas DataFrame; without rows, it still has the columns."""
    import pandas as pd  # noqa: PLC0415  optional

    return pd.DataFrame(rows, columns=[name for name in kind.__struct_fields__ if name != "etag"])
