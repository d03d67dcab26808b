"""A table as JSON lines and as Parquet, written side by side in one pass."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from exports.formats.tables import Row, Table
from exports.writers.lines import LinesFile, WrittenFile
from exports.writers.parquet import ParquetFile

ROW_GROUP, GROUP_BYTES = 5_000, 2**22  # a row group of Parquet waits in memory: rows, bytes of their JSON


class TableFiles:
    """The files of a table that are open for writing, a row at a time."""

    def __init__(self, table: Table, lines: Path, parquet: Path) -> None:
        self._names, self._waiting, self._size = table.names, list[Row](), 0
        with ExitStack() as opened:
            self._lines = opened.enter_context(LinesFile(lines))
            self._parquet = opened.enter_context(ParquetFile(parquet, table.columns))
            self._files = opened.pop_all()

    def write(self, row: Row) -> None:
        """Add a row."""
        self._size += self._lines.write(dict(zip(self._names, row, strict=True)))
        self._waiting.append(row)
        if len(self._waiting) == ROW_GROUP or self._size >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._parquet.write(self._waiting)
        self._waiting, self._size = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._files.__exit__(kind, error, trace)

    def finished(self) -> tuple[WrittenFile, WrittenFile]:
        """Return the finished JSON lines file and Parquet file, once they are closed."""
        return self._lines.finished(), self._parquet.finished()


def write_table(table: Table, lines: Path, parquet: Path) -> tuple[WrittenFile, WrittenFile]:
    """Write a table; return the finished JSON lines file and Parquet file."""
    with TableFiles(table, lines, parquet) as files:
        for row in table.rows():
            files.write(row)
    return files.finished()
