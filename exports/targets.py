"""Targets that store the finished files of a release."""

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
    """A file name points outside the folder of a release."""


def _checked(name: str) -> str:
    """Return a release file's name after checking that it is a path below the release's folder.

    Raises
    ------
    OutsideTarget
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts:
        raise OutsideTarget(f"{name!r} would lie outside the folder of the release")
    return name


class FolderTaken(ValueError):
    """A folder isn't empty: it must not mix the files of two releases."""


class Target(Protocol):
    """A place that stores finished files."""

    def put(self, name: str, path: Path) -> None:
        """Store a finished file as a whole; the file at ``path`` may be moved."""
        ...


class FolderTarget:
    """A local folder, which must be empty or not exist.

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
    """A release's folder in the releases storage. Putting a file replaces any file of the same name as a whole."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Save the file; a file left by a killed attempt is replaced by identical bytes."""
        with path.open("rb") as file:
            storages["releases"].save(f"{self.folder}/{_checked(name)}", File(file))


def table_put(table: Table, folder: Path, target: Target, files: dict[str, Any]) -> None:
    """Write a table and store its files, unless an earlier attempt did; add the files to ``files``."""
    if all(name in files for name in table.files):
        return
    parts = (folder / "lines", folder / "parquet")
    for name, part, file in zip(table.files, parts, write_table(table, *parts), strict=True):
        target.put(name, part)
        files[name] = asdict(file)
