"""Plain text, one line per record; hashes are computed during writing."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from exports.writers.lines import WrittenFile


def write_text(path: Path, lines: Iterable[str], *, end: str = "\n") -> WrittenFile:
    """Write lines, which include their line ends, and compute their hashes."""
    content = hashlib.sha256()
    count = size = 0
    with path.open("wb") as file:
        for line in _encoded(lines, end.encode()):
            file.write(line)
            content.update(line)
            size += len(line)
            count += 1
    return WrittenFile(content.hexdigest(), content.hexdigest(), size, size, count)


def _encoded(lines: Iterable[str], end: bytes) -> Iterator[bytes]:
    for line in lines:
        yield line.encode() + end
