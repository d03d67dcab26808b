"""Untrusted text files: read line by line, with errors that name file and line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from storage.lines import DamagedFile, LineTooLong, read_lines, unzipped

MOST_LINES = 3_000_000  # a run of a thousand answers for each of ANTIQUE's training questions has 2.4 million
LONGEST = 2**16  # bytes of a line
_BOM = "\ufeff"


class FileFault(ValueError):
    """The reason why a file can't be used; printed to the user. Names the file and, if possible, the line."""


class LineFault(ValueError):
    """A line isn't in its format; the message gives the reason, and the reader of the file adds the position."""


def text_lines(
    path: Path, encodings: Sequence[str] = ("utf-8",), *, most: int = MOST_LINES, longest: int = LONGEST
) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that isn't blank, without its line end; gzip files are unpacked.

    Parameters
    ----------
    encodings
        Encodings to try; the first one that fits the whole file is used.
    most
        Maximum number of lines.
    longest
        Maximum bytes per line.

    Raises
    ------
    FileFault
        The file can't be read, is damaged, or has more or longer lines than real files do.
    """
    encoding = next((one for one in encodings[:-1] if _is_encoded(path, one, most, longest)), encodings[-1])
    number = 0
    try:
        for number, line in _byte_lines(path, most, longest):
            text = line.decode(encoding)
            text = text.removeprefix(_BOM) if number == 1 else text
            if not text.isspace():
                yield number, text.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileFault(f"{path}: line {number}: isn't text in {' or '.join(encodings)}") from error


@contextmanager
def naming(path: Path, number: int) -> Iterator[None]:
    """Convert a `LineFault` to a `FileFault` that names file and line."""
    try:
        yield
    except LineFault as fault:
        raise FileFault(f"{path}: line {number}: {fault}") from fault


def _is_encoded(path: Path, encoding: str, most: int, longest: int) -> bool:
    try:
        for _number, line in _byte_lines(path, most, longest):
            line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _byte_lines(path: Path, most: int, longest: int) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        if path.exists() and not path.is_file():
            raise FileFault(f"{path}: isn't a file")
        with path.open("rb") as raw, _content(raw) as file:
            for number, line in read_lines(file, max_bytes=longest):
                if number > most:
                    raise FileFault(f"{path}: has more than {most:,} lines")
                yield number, line
    except (OSError, DamagedFile, LineTooLong) as error:
        raise FileFault(f"{path}: line {number + 1}: {error}") from error


def _content(raw: IO[bytes]) -> IO[bytes]:
    is_packed = raw.read(2) == b"\x1f\x8b"
    raw.seek(0)
    return unzipped(raw) if is_packed else raw
