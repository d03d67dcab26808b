"""Reading untrusted files: limits the length of lines, and reports damaged gzip files with a clear message."""

import io
import zlib
from collections.abc import Iterator
from typing import IO, cast

from isal import igzip
from isal.igzip_lib import IsalError

# Text shrinks to a tenth, a table of repeated rows to a hundredth; only what was made to fill memories shrinks more.
MAX_RATIO = 200
RATIO_FREE_BYTES = 64 * 2**20  # so much may come out of any file
# The longest examples of Natural Questions are below a tenth of this.
MAX_LINE_BYTES = 128 * 2**20
# Between and around values: their number, more than their bytes, is what fills a memory. Those examples have a third.
MAX_LINE_MARKS = 4_000_000
MAX_ROW_BYTES = 16 * 2**20
MOST_BLANK_LINES = 100_000  # one after another
_MARKS = (b",", b":", b"[", b"{")


class DamagedFile(ValueError):
    """A gzip file is damaged or cut short; the part that was read before is good."""


class BlownUp(DamagedFile):
    """A gzip file unpacks to far more than any real data would."""


class LineTooLong(ValueError):
    """A line is longer than allowed, or holds too many values; the rest of the file isn't read."""


def read_lines(file: IO[bytes], *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line), or raise `LineTooLong`."""
    number = 0
    while line := file.readline(max_bytes + 1):
        number += 1
        if len(line) > max_bytes:
            raise LineTooLong(f"line {number} is longer than {max_bytes:,} bytes")
        check_values(line, f"line {number}")
        yield number, line


def table_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a table; a file with too many blank lines in a row is refused.

    Raises
    ------
    LineTooLong
    """
    blank = 0
    for number, line in read_lines(file, max_bytes=MAX_ROW_BYTES):
        blank = 0 if line.strip() else blank + 1
        if blank > MOST_BLANK_LINES:
            raise LineTooLong(f"line {number} is one of more than {MOST_BLANK_LINES:,} blank ones")
        yield number, line


def check_values(line: bytes, where: str) -> None:
    """Raise `LineTooLong` if a line of JSON holds more values than real lines do."""
    if len(line) > MAX_LINE_MARKS and sum(line.count(mark) for mark in _MARKS) > MAX_LINE_MARKS:
        raise LineTooLong(f"{where} holds more values than {MAX_LINE_MARKS:,} marks can separate")


def check_ratio(written: int, read: int) -> None:
    """Raise `BlownUp` if the ratio of unpacked to packed bytes is too high."""
    if written > max(RATIO_FREE_BYTES, MAX_RATIO * read):
        raise BlownUp(f"the gzip file unpacks to more than {MAX_RATIO} times its size")


def unzipped(file: IO[bytes]) -> IO[bytes]:
    """Return the content of a gzip file as a stream that raises `DamagedFile` if the file is damaged."""
    return cast(IO[bytes], io.BufferedReader(_Unzipped(file), buffer_size=2**18))


class _Unzipped(io.RawIOBase):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._content = igzip.IGzipFile(fileobj=file)
        self._written = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._content.read(len(buffer))
        except (OSError, EOFError, zlib.error, IsalError) as error:  # type: ignore[misc]  # its stub says Any
            raise DamagedFile(f"the gzip file is damaged or cut short ({error})") from error
        self._written += len(data)
        check_ratio(self._written, self._file.tell())
        buffer[: len(data)] = data
        return len(data)
