"""All files of a release as one: a zip that is made while it is sent, so that nothing is kept twice."""

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

BLOCK = 1 << 18  # bytes that are read at a time


class _Outbox(io.RawIOBase):
    """A file that can only be written to, whose bytes are taken away as they come."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
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
    """Yield a zip with files under one folder, a part at a time, the same bytes for the same files.

    They are stored as they are, since those of a release are compressed. Each is opened when its turn comes.
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
