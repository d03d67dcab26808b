"""A release as a folder on this machine."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"


class FolderError(ValueError):
    """A folder is no release, or a damaged one; the message says which file and why."""


class ReleasedFolder:
    """The manifest and the tables of a release."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.manifest: dict[str, Any] = orjson.loads((path / MANIFEST).read_bytes())
        except OSError as error:
            raise FolderError(f"{path / MANIFEST}: cannot be read: is this the folder of a release?") from error
        except orjson.JSONDecodeError as error:
            raise FolderError(f"{path / MANIFEST}: is no JSON: {error}") from error
        if not isinstance(self.manifest, dict) or "files" not in self.manifest:
            raise FolderError(f"{path / MANIFEST}: is no manifest of a release")

    @property
    def tables(self) -> dict[str, Any]:
        """What the manifest says of each table; none in releases from before there were any."""
        found = self.manifest.get("tables", {})
        return found if isinstance(found, dict) else {}

    def rows(self, key: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table.

        Raises
        ------
        FolderError
            There is no such table, or its file is damaged; names the line.
        """
        if key not in self.tables:
            raise FolderError(f"{self.path}: this release has no table {key}")
        path, line = self.path / f"tables/{key}.jsonl.gz", 0
        try:
            with gzip.open(path) as file:
                for line, text in enumerate(file, 1):
                    row = orjson.loads(text)
                    if not isinstance(row, dict):
                        raise FolderError(f"{path}: line {line}: is no object")
                    yield row
        except (OSError, EOFError, orjson.JSONDecodeError) as error:
            raise FolderError(f"{path}: line {line + 1}: {error}") from error
