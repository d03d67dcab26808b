"""Tar files with the hash of each member in a manifest at their end.

They are written as a stream, and trusted only after a comparison with the manifest.
"""

import hashlib
import io
import json
import os
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

MANIFEST = "manifest.json"
_PIECE = 2**20


class TarDamaged(RuntimeError):
    """A tar file is damaged, cut short, or differs from its manifest; the message names the problem."""


class HashedTar:
    """A tar file that is being written; ``files`` holds the hash and size of each member."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.files: dict[str, dict[str, Any]] = {}

    def add(self, name: str, path: Path) -> None:
        """Add a file in its current state; a file deleted meanwhile is skipped, because its job has ended."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return
        with file:
            self.add_file(name, file, os.fstat(file.fileno()).st_size)

    def add_bytes(self, name: str, data: bytes) -> None:
        """Add bytes from memory."""
        self.add_file(name, io.BytesIO(data), len(data))

    def add_file(self, name: str, file: IO[bytes], size: int) -> None:
        """Add the rest of an open file, from its current position."""
        entry = _entry(name, size)
        hashing = _Hashing(file)
        self._tar.addfile(entry, hashing)
        self.files[name] = {"sha256": hashing.sum.hexdigest(), "bytes": size}

    def finish(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Add the manifest, completed by ``files``, as the last member, and return it."""
        whole = {**manifest, "files": self.files}
        data = json.dumps(whole, indent=1).encode()
        self._tar.addfile(_entry(MANIFEST, len(data)), io.BytesIO(data))
        return whole


@contextmanager
def hashed_tar(stream: IO[bytes]) -> Iterator[HashedTar]:
    """Open a tar file for writing to a stream, which needn't be seekable."""
    with tarfile.open(fileobj=stream, mode="w|") as tar:
        yield HashedTar(tar)


def unpacked(stream: IO[bytes], folder: Path) -> dict[str, Any]:
    """Unpack to a folder and return the manifest, after comparing every file with it.

    Raises
    ------
    TarDamaged
    """
    found: dict[str, str] = {}
    manifest: Any = None
    try:
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            for entry in tar:
                source = tar.extractfile(entry)
                if source is None or not _is_plain(entry.name):
                    raise TarDamaged(f"{entry.name!r} has no place in a backup or archive")
                if entry.name == MANIFEST:
                    manifest = json.load(source)
                else:
                    found[entry.name] = _unpack(source, folder / entry.name)
    except (tarfile.TarError, EOFError, OSError, ValueError, RecursionError) as error:
        raise TarDamaged(f"the archive can't be read: {error}") from error
    if manifest is None:
        raise TarDamaged("the archive is cut short: its manifest, which comes last, is missing")
    _compare(manifest, found)
    return dict(manifest)


def _compare(manifest: Any, found: dict[str, str]) -> None:
    try:
        stated = {name: file["sha256"] for name, file in manifest["files"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise TarDamaged("the manifest isn't that of a backup or archive") from error
    for name in sorted({*stated, *found}):
        if stated.get(name) != found.get(name):
            raise TarDamaged(f"{name} is not as the manifest says: the archive is damaged")


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(time.time())
    return entry


def _is_plain(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _unpack(source: IO[bytes], target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    found = hashlib.sha256()
    with target.open("xb") as file:
        while piece := source.read(_PIECE):
            found.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return found.hexdigest()


class _Hashing(io.RawIOBase):
    """A file whose hash is known after it has been read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sum = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.sum.update(data)
        return data
