"""Parquet; with the same version of pyarrow, equal rows give identical bytes.

pyarrow is imported with the first file that is written or read, since web processes never need it.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from annotation.tasktypes.columns import Column, Kind
from exports.writers.lines import WrittenFile


def types() -> dict[Kind, Any]:
    """Return the Arrow type of each kind of column."""
    import pyarrow as pa  # noqa: PLC0415

    return {
        Kind.TEXT: pa.string(),
        Kind.INTEGER: pa.int64(),
        Kind.NUMBER: pa.float64(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.JSON: pa.string(),
    }


class ParquetFile:
    """A file that is open for writing; each call of `write` adds a row group."""

    def __init__(self, path: Path, columns: Iterable[Column]) -> None:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        self._pa, self._path, self._rows = pa, path, 0
        known = types()
        fields = [pa.field(one.name, known[one.kind], metadata={"meaning": one.meaning}) for one in columns]
        self._schema = pa.schema(fields)
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")

    def write(self, rows: list[tuple[Any, ...]]) -> None:
        """Add rows."""
        columns = zip(zip(*rows, strict=True), self._schema, strict=True)
        arrays = [self._pa.array(values, type=field.type) for values, field in columns]
        self._writer.write_table(self._pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows += len(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def finished(self) -> WrittenFile:
        """Return the hashes and sizes of the closed file. Both hashes are equal: Parquet compresses internally."""
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = self._path.stat().st_size
        return WrittenFile(digest, digest, size, size, self._rows)
