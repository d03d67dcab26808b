"""Where finished files of a release go."""

import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from django.core.files import File
from django.core.files.storage import storages

from exports.formats.tables import Table
from exports.writers.tables import write_table

Progress = Callable[[int, int, str, dict[str, Any]], None]


class OutsideTarget(ValueError):
    """A name leads out of the folder of a release."""


def _checked(name: str) -> str:
    """Return a name of a file in a release: parts below its folder, none of which leads up.

    Raises
    ------
    OutsideTarget
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise OutsideTarget(f"{name!r} would lie outside the folder of the release")
    return name


class FolderTaken(ValueError):
    """A folder holds something already: files of two releases in one folder would be no release."""


class Target(Protocol):
    """Where finished files go."""

    def put(self, name: str, path: Path) -> None:
        """Put a finished file there, whole; the one at ``path`` may be gone afterwards."""
        ...


class FolderTarget:
    """A folder on this machine, which is empty or not there yet.

    Raises
    ------
    FolderTaken
    """

    def __init__(self, folder: Path) -> None:
        if folder.is_dir() and any(folder.iterdir()):
            raise FolderTaken(f"{folder} is not empty: a release takes a folder of its own")
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Move the file into place."""
        target = self.folder / _checked(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        try:
            shutil.move(path, part)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


class StorageTarget:
    """A release's folder in the releases storage, in which a file replaces one of its name whole."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Save the file; one that a killed attempt left is replaced by the same bytes."""
        with path.open("rb") as file:
            storages["releases"].save(f"{self.folder}/{_checked(name)}", File(file))


def table_put(table: Table, folder: Path, target: Target, files: dict[str, Any]) -> None:
    """Write a table and put its files, unless an earlier attempt did; they are added to ``files``."""
    if all(name in files for name in table.files):
        return
    parts = (folder / "lines", folder / "parquet")
    for name, part, file in zip(table.files, parts, write_table(table, *parts), strict=True):
        target.put(name, part)
        files[name] = asdict(file)
