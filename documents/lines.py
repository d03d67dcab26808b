"""Lines of a file that somebody else wrote: none of them may fill the memory."""

from collections.abc import Iterator
from typing import IO

# The longest examples of Natural Questions are below a tenth of this.
MAX_LINE_BYTES = 128 * 2**20


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
