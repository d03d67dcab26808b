"""Parquet files and Excel workbooks as rows."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from storage.lines import MAX_RATIO, RATIO_FREE_BYTES
from storage.tables.delimited import columns_of
from storage.tables.faults import RowError
from storage.tables.reading import Reading, Row
from storage.tables.values import text_of

AT_ONCE = 1_000  # rows of Parquet
MOST_CELLS = 16_384  # of a row, as in Excel
EXACT = 10**15  # Excel keeps fifteen digits of a number


def parquet_rows(file: IO[bytes], name: str, reading: Reading, *, fold: bool) -> Iterator[Row]:
    """Yield the rows of a Parquet file from 1 on; numbers are converted to text, lists and records aren't.

    Raises
    ------
    ValueError
        The file is damaged, unpacks to more than real data would, or has a column twice.
    """
    import pyarrow as pa  # noqa: PLC0415  loaded where such a file is read
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(file, pre_buffer=False) as table:
            about = table.metadata
            size = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
            if size > max(RATIO_FREE_BYTES, MAX_RATIO * _size(file)):
                raise ValueError(f"{name}: unpacks to more than {MAX_RATIO} times its size")
            columns = columns_of(table.schema_arrow.names, name, fold=fold)
            reading.columns = list(columns)
            # Without threads: at the end of a process, Arrow's can abort it (apache/arrow issue 34314).
            for batch in table.iter_batches(AT_ONCE, use_threads=False):
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    reading.rows += 1
                    yield reading.rows, {column: _told(value) for column, value in zip(columns, values, strict=True)}
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{name}: isn't a Parquet file that can be read ({error})") from error


def workbook_rows(file: IO[bytes], name: str, reading: Reading, *, fold: bool) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet, below its first row that isn't empty; all values come as text.

    Raises
    ------
    ValueError
        The file isn't a workbook, unpacks to too much, has a column twice, or openpyxl isn't installed.
    """
    try:
        from openpyxl import load_workbook  # type: ignore[import-untyped]  # noqa: PLC0415  an extra
    except ImportError:
        raise ValueError(
            f"{name}: to read workbooks, install openpyxl: pip install --require-hashes -r requirements-xlsx.txt"
        ) from None
    _check_archive(file, name)
    try:
        book = load_workbook(file, read_only=True, data_only=True)
        if len(book.sheetnames) > 1:
            reading.notes.append(f"of {len(book.sheetnames)} sheets only the first, {book.sheetnames[0]!r}, is read")
        rows = enumerate(book[book.sheetnames[0]].iter_rows(values_only=True), 1)
        yield from _below_header(rows, name, reading, fold=fold)
    except (KeyError, IndexError, OSError, BadZipFile) as error:
        raise ValueError(f"{name}: isn't a workbook that can be read ({error})") from error


def _below_header(
    rows: Iterator[tuple[int, Sequence[Any]]], name: str, reading: Reading, *, fold: bool
) -> Iterator[Row]:
    columns: list[str] | None = None
    long_numbers = 0
    for number, values in rows:
        texts = [text_of(_told(value)) for value in values[:MOST_CELLS]]
        if not any(text.strip() for text in texts):
            reading.blank += columns is not None
        elif columns is None:
            columns = columns_of(texts, f"{name}, row {number}", fold=fold)
            reading.columns = [column for column in columns if column]
        elif any(text for text in texts[len(columns) :]):
            reading.rows += 1
            yield number, RowError("has more cells than the header has columns", "line")
        else:
            reading.rows += 1
            long_numbers += any(isinstance(value, int | float) and abs(value) >= EXACT for value in values)
            row = dict(zip(columns, texts, strict=False))
            row.pop("", None)
            yield number, row
    if long_numbers:
        reading.notes.append(
            f"{long_numbers:,} rows hold numbers of 16 digits or more, of which Excel keeps 15: format ids as text"
        )


def _told(value: Any) -> Any:
    """Return a value as in JSON, with numbers as text, because an id stored as a number has lost its form."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return _plain(value)
    return text_of(_plain(value)) if not isinstance(value, bytes) else value.decode(errors="replace")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _size(file: IO[bytes]) -> int:
    place = file.tell()
    size = file.seek(0, 2)
    file.seek(place)
    return size


def _check_archive(file: IO[bytes], name: str) -> None:
    try:
        with ZipFile(file) as archive:
            unpacked = sum(one.file_size for one in archive.infolist())
    except (BadZipFile, OSError) as error:
        raise ValueError(f"{name}: isn't a workbook that can be read ({error})") from error
    if unpacked > max(RATIO_FREE_BYTES, MAX_RATIO * _size(file)):
        raise ValueError(f"{name}: unpacks to more than {MAX_RATIO} times its size")
    file.seek(0)
