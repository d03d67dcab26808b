"""Text in common encodings, converted to UTF-8."""

import codecs
import io
from collections.abc import Sequence
from typing import IO, cast

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SAMPLE = 2**16  # bytes that tell an encoding
_PIECE = 2**18
_TELLING = 8  # bytes beyond ASCII, with fewer of which any encoding fits
# What the writers of annotation files use besides UTF-8, the commonest first.
_USUAL: Sequence[str] = ("gb18030", "big5", "shift_jis", "euc_kr", "cp1251", "cp1252", "latin_1")


def as_utf8(file: IO[bytes], encoding: str | None = None) -> IO[bytes]:
    """Return a file from its beginning as UTF-8 without a byte order mark.

    Parameters
    ----------
    encoding
        The encoding of a file without a byte order mark (default: UTF-8, which isn't checked here).

    Raises
    ------
    ValueError
        The encoding doesn't exist, or the file isn't in it (raised while reading).
    """
    if encoding is not None:
        encoding = known_encoding(encoding)
    beginning = io.BufferedReader(cast(io.RawIOBase, _Raw(file)), _PIECE)
    first = beginning.peek(3)[:3]
    for mark, name in _MARKS:
        if first.startswith(mark):
            beginning.read(len(mark))
            encoding = name
            break
    if encoding in (None, "utf-8"):
        return cast(IO[bytes], beginning)
    return cast(IO[bytes], io.BufferedReader(_Recoded(beginning, encoding), _PIECE))


def known_encoding(name: str) -> str:
    """Return Python's name of a text encoding.

    Raises
    ------
    ValueError
    """
    try:
        found = codecs.lookup(name)
        "".encode(found.name)
    except LookupError:
        raise ValueError(f"no encoding is called {name!r}; common ones are utf-8, gb18030, big5 and cp1252") from None
    return found.name


def likely_encoding(sample: bytes) -> str | None:
    """Return the likely encoding of bytes that aren't UTF-8; None if none of the usual encodings fits."""
    if sum(byte >= 0x80 for byte in sample[:_SAMPLE]) < _TELLING:
        return None
    import charset_normalizer  # noqa: PLC0415  30 ms, needed for files in other encodings alone

    best = charset_normalizer.from_bytes(sample[:_SAMPLE], cp_isolation=list(_USUAL)).best()
    return {"gbk": "gb18030"}.get(best.encoding, best.encoding) if best else None


class WrongEncoding(ValueError):
    """A file isn't text in the expected encoding."""


class _Raw(io.RawIOBase):
    """Any readable file as an unbuffered binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class _Recoded(io.RawIOBase):
    """A file in another encoding, read as UTF-8."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file, self._encoding = file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._read = b"", 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            data = self._file.read(_PIECE)
            try:
                self._ready = self._decoder.decode(data, final=not data).encode()
            except UnicodeError as error:
                raise WrongEncoding(f"not valid {self._encoding} after byte {self._read:,} ({error})") from None
            self._read += len(data)
            if not data:
                break
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
