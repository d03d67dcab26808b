"""Reading submitted pages: a file, a folder, a zip archive, or JSON lines."""

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from documents.html.errors import DocumentError
from storage.lines import read_lines, unzipped

_UNPACKING = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    RuntimeError,
    NotImplementedError,
    OSError,
    EOFError,
    ValueError,
)
_PAGE_SUFFIXES = frozenset((".html", ".htm", ".xhtml"))
MAX_ARCHIVE_ENTRIES = 2_000_000


@dataclass(frozen=True, slots=True)
class IncomingPage:
    """A submitted page. ``where`` describes its origin to a person; ``error`` is set if the page couldn't be read."""

    name: str
    raw: bytes
    where: str
    url: str = ""
    title: str = ""
    error: str = ""


def read_pages(file: IO[bytes], name: str, *, max_bytes: int) -> Iterator[IncomingPage]:
    """Yield the pages of one file, whose type is known by its name.

    ``*.html`` is one page, ``*.zip`` one page per entry, ``*.jsonl`` and ``*.jsonl.gz`` one page per line
    with ``html`` and optionally ``url``, ``title`` and ``name``. A bad entry or line is yielded with
    its error; the rest are read.

    Raises
    ------
    DocumentError
        The file isn't of one of these types.
    """
    lower = name.lower()
    if lower.endswith(".zip"):
        yield from _from_zip(file, name, max_bytes)
    elif lower.endswith((".jsonl", ".ndjson")):
        yield from _from_lines(file, name)
    elif lower.endswith((".jsonl.gz", ".ndjson.gz")):
        yield from _from_lines(unzipped(file), name)
    elif PurePosixPath(lower).suffix in _PAGE_SUFFIXES:
        yield IncomingPage(PurePosixPath(name).name, file.read(max_bytes + 1), name)
    else:
        raise DocumentError(f"{name}: expected .html, .zip, .jsonl or .jsonl.gz")


def read_folder(folder: Path, *, max_bytes: int) -> Iterator[IncomingPage]:
    """Yield every HTML page below a folder, by path."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in _PAGE_SUFFIXES and path.is_file():
            name = str(path.relative_to(folder))
            with path.open("rb") as file:
                yield IncomingPage(name, file.read(max_bytes + 1), name)


def _from_zip(file: IO[bytes], name: str, max_bytes: int) -> Iterator[IncomingPage]:
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise DocumentError(f"{name}: not a zip archive") from error
    with archive:
        entries = archive.infolist()
        if len(entries) > MAX_ARCHIVE_ENTRIES:
            raise DocumentError(f"{name}: more than {MAX_ARCHIVE_ENTRIES:,} entries")
        for entry in entries:
            if entry.is_dir() or PurePosixPath(entry.filename.lower()).suffix not in _PAGE_SUFFIXES:
                continue
            where = f"{name}: {entry.filename}"
            try:
                with archive.open(entry) as page:
                    raw = page.read(max_bytes + 1)
            except _UNPACKING as error:
                yield IncomingPage(entry.filename, b"", where, error=f"cannot be unpacked ({error})")
                continue
            yield IncomingPage(entry.filename, raw, where)


def _from_lines(file: IO[bytes], name: str) -> Iterator[IncomingPage]:
    for number, line in read_lines(file):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield IncomingPage(where, b"", where, error=f"not JSON: {error}")
            continue
        html = row.get("html") if isinstance(row, dict) else None
        if not isinstance(html, str):
            yield IncomingPage(where, b"", where, error="the field html is missing or not text")
            continue
        url, title = _line(row.get("url")), _line(row.get("title"))
        label = _line(row.get("name")) or url or title or f"line-{number}"
        yield IncomingPage(label, html.encode("utf-8", "replace"), where, url=url, title=title)


def _line(value: object) -> str:
    """Return a short text without characters that a database can't store (lone surrogates, NUL)."""
    text = str(value or "").encode("utf-8", "replace").decode().replace("\x00", "")
    return " ".join(text.split())[:500]
