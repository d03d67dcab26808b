"""A table as JSON lines and as Parquet, written side by side in one pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exports.formats.tables import Table, chunks
from exports.writers.lines import WrittenFile, write_lines
from exports.writers.parquet import ParquetFile

ROW_GROUP = 20_000


def write_table(table: Table, lines: Path, parquet: Path) -> tuple[WrittenFile, WrittenFile]:
    """Write a table; return what became of its lines and of its Parquet file."""
    names = table.names
    with ParquetFile(parquet, table.columns) as columns:

        def rows() -> Iterator[dict[str, Any]]:
            for chunk in chunks(table.rows(), ROW_GROUP):
                columns.write(chunk)
                for row in chunk:
                    yield dict(zip(names, row, strict=True))

        written = write_lines(lines, rows())
    return written, columns.finished()
