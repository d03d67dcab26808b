"""Files that others wrote: no line may fill the memory, and a damaged gzip file is an error with a sentence."""

import io
import zlib
from collections.abc import Iterator
from typing import IO, cast

from isal import igzip

# The longest examples of Natural Questions are below a tenth of this.
MAX_LINE_BYTES = 128 * 2**20


class DamagedFile(ValueError):
    """A gzip file is damaged or cut short; what was read before it is good."""


class LineTooLong(ValueError):
    """A line is longer than allowed; what follows it cannot be told apart any more."""


def read_lines(file: IO[bytes], *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, line), or raise `LineTooLong`."""
    number = 0
    while line := file.readline(max_bytes + 1):
        number += 1
        if len(line) > max_bytes:
            raise LineTooLong(f"line {number} is longer than {max_bytes:,} bytes")
        yield number, line


def unzipped(file: IO[bytes]) -> IO[bytes]:
    """Return the content of a gzip file as a stream that raises `DamagedFile` where the file is damaged."""
    return cast(IO[bytes], io.BufferedReader(_Unzipped(file), buffer_size=2**18))


class _Unzipped(io.RawIOBase):
    def __init__(self, file: IO[bytes]) -> None:
        self._content = igzip.IGzipFile(fileobj=file)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            data = self._content.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedFile(f"the gzip file is damaged or cut short ({error})") from error
        buffer[: len(data)] = data
        return len(data)
