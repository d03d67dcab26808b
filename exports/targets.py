"""Where finished files of a release go."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from django.core.files import File
from django.core.files.storage import storages

Progress = Callable[[int, int, str, dict[str, Any]], None]


class Target(Protocol):
    """Where finished files go."""

    def put(self, name: str, path: Path) -> None:
        """Put a finished file there, whole."""
        ...


class FolderTarget:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Move the file into place."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(path.read_bytes())
        part.replace(target)


class StorageTarget:
    """A release's folder in the releases storage."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Save the file; one that a killed attempt left is replaced by the same bytes."""
        storage = storages["releases"]
        place = f"{self.folder}/{name}"
        if storage.exists(place):
            storage.delete(place)
        with path.open("rb") as file:
            storage.save(place, File(file))
