"""A release in a local folder. Others may have created it, so its content is not trusted."""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from annotation.tasktypes.columns import Kind
from storage.lines import DamagedFile, LineTooLong, read_lines, unzipped

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
MOST_BYTES = 64 * 2**20  # of a manifest, and of the sums: those of a hundred shards have a hundredth of this
_IS: dict[Kind, Callable[[Any], bool]] = {
    Kind.TEXT: lambda value: isinstance(value, str),
    Kind.JSON: lambda value: isinstance(value, str),
    Kind.INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    Kind.NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    Kind.BOOLEAN: lambda value: isinstance(value, bool),
}


class FolderError(ValueError):
    """A folder isn't a release, or is damaged; the message names the file and the reason."""


class ReleasedFolder:
    """The manifest and the tables of a release."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.manifest: dict[str, Any] = orjson.loads(small_file(path / MANIFEST))
        except FileNotFoundError as error:
            raise FolderError(
                f"{path / MANIFEST}: can't be read. Check that this is the folder of a release"
            ) from error
        except orjson.JSONDecodeError as error:
            raise FolderError(f"{path / MANIFEST}: isn't valid JSON: {error}") from error
        if not _is_manifest(self.manifest):
            raise FolderError(f"{path / MANIFEST}: isn't a release manifest")

    @property
    def tables(self) -> dict[str, Any]:
        """The manifest's entry for each table; empty for older releases without tables."""
        found: dict[str, Any] = self.manifest.get("tables", {})
        return found

    def kinds(self, key: str) -> dict[str, Kind]:
        """Return the kind of each column of a table, in order."""
        return {one["name"]: Kind(one["type"]) for one in self.tables[key]["columns"]}

    def rows(self, key: str, needed: Collection[str] = ()) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table, with all columns that the manifest names checked for their types.

        Raises
        ------
        FolderError
            The table or a needed column is missing, or the file is damaged; the message names the line.
        """
        if key not in self.tables:
            raise FolderError(f"{self.path}: this release has no table {key}")
        kinds = self.kinds(key)
        missing = sorted(set(needed) - set(kinds))
        if missing:
            raise FolderError(f"{self.path}: the table {key} has no column {missing[0]}")
        for line, row in self.lines(key):
            for what in row_problems(row, kinds):
                raise FolderError(f"{self._path(key)}: line {line}: {what}")
            yield row

    def lines(self, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield line number and row of a table without checking the columns.

        Raises
        ------
        FolderError
            The file is damaged, a line isn't an object or is too long, or it unpacks to more data than plausible.
        """
        path, line = self._path(key), 0
        try:
            if not path.is_file():
                raise FolderError(f"{path}: isn't a file")
            with path.open("rb") as raw, unzipped(raw) as file:
                for line, text in read_lines(file):
                    row = orjson.loads(text)
                    if not isinstance(row, dict):
                        raise FolderError(f"{path}: line {line}: isn't a JSON object")
                    yield line, row
        except (OSError, DamagedFile, LineTooLong, orjson.JSONDecodeError) as error:
            raise FolderError(f"{path}: line {line + 1}: {error}") from error

    def _path(self, key: str) -> Path:
        return self.path / f"tables/{key}.jsonl.gz"


def row_problems(row: dict[str, Any], kinds: dict[str, Kind]) -> Iterator[str]:
    """Yield the problems in the columns of a row."""
    if row.keys() != kinds.keys():
        yield "its columns are not those of the manifest"
        return
    for name, value in row.items():
        if value is not None and not _IS[kinds[name]](value):
            yield f"{name}: expected {kinds[name].value}"


def sums_of(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file of a release, by file name, from the release's checksum file.

    Raises
    ------
    FolderError
        The checksums cannot be read, or a line isn't a checksum of a file in the folder.
    """
    path = folder / SUMS
    try:
        lines = small_file(path).decode().splitlines()
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise FolderError(f"{path}: can't be read. Check that this is the folder of a complete release") from error
    sums = {}
    for number, line in enumerate(lines, 1):
        digest, blank, name = line.partition("  ")
        if not blank or not name or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts:
            raise FolderError(
                f"{path}: line {number}: expected a SHA-256, two spaces, and the name of a file in this folder"
            )
        sums[name] = digest
    return sums


def small_file(path: Path) -> bytes:
    """Return the bytes of a file that is expected to be small.

    Raises
    ------
    FolderError
        The file isn't a plain file, or is too large.
    """
    if path.exists() and not path.is_file():
        raise FolderError(f"{path}: isn't a file")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FolderError(f"{path}: can't be read: {error}") from error
    if len(content) > MOST_BYTES:
        raise FolderError(f"{path}: is larger than {MOST_BYTES:,} bytes")
    return content


def shown(value: Any) -> str:
    """Return a value as text for a terminal or a single line; control characters and line breaks are escaped."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in str(value))


def _is_manifest(content: Any) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("files"), dict):
        return False
    tables = content.get("tables", {})
    return (
        all(isinstance(file, dict) and isinstance(file.get("sha256"), str) for file in content["files"].values())
        and isinstance(tables, dict)
        and all(_is_table(key, table) for key, table in tables.items())
    )


def _is_table(key: str, table: Any) -> bool:
    if not isinstance(table, dict) or not isinstance(table.get("columns"), list) or "/" in key or "\0" in key:
        return False
    kinds = {kind.value for kind in Kind}
    return all(
        isinstance(one, dict)
        and isinstance(one.get("name"), str)
        and isinstance(one.get("type"), str)
        and one["type"] in kinds
        for one in table["columns"]
    )
