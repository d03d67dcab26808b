"""A zip of all files of a release, created while it is sent, so no second copy is stored."""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

BLOCK = 1 << 18  # bytes that are read at a time


class _Outbox(io.RawIOBase):
    """A write-only file whose bytes are removed as they are sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, part: Any) -> int:
        """Keep bytes until they are taken."""
        self._parts.append(bytes(part))
        return len(part)

    def taken(self) -> bytes:
        """Return what was written since the last time."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def zip_stream(folder: str, files: Iterable[tuple[str, Callable[[], IO[bytes]]]]) -> Iterator[bytes]:
    """Yield a zip with files under one folder, part by part; the same files give the same bytes.

    The files are stored without compression, since a release's files are already compressed. Each is opened in turn.
    """
    out = _Outbox()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, opened in files:
            about = zipfile.ZipInfo(f"{folder}/{name}", (1980, 1, 1, 0, 0, 0))
            about.external_attr = 0o644 << 16
            with opened() as source, archive.open(about, "w", force_zip64=True) as target:
                while block := source.read(BLOCK):
                    target.write(block)
                    yield out.taken()
    yield out.taken()
