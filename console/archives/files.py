"""Checks that the pages in an unpacked archive are those that its rows name, by their content."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from isal import igzip
from isal.igzip_lib import IsalError

from console.archives.tables import ArchiveError, columns_of, model_named, rows_in
from documents.html.canonical import sha256_of
from documents.paths import display_path, page_path, tokens_path
from documents.services import tokens_address

_DAMAGED = (OSError, EOFError, ValueError, RecursionError, TypeError, IndexError, zlib.error, IsalError)


def files_check(folder: Path) -> None:
    """Refuse an archive with missing pages, or with pages whose content doesn't match their names.

    Raises
    ------
    ArchiveError
    """
    try:
        expected = set(_checked(folder))
    except _DAMAGED as error:  # type: ignore[misc]  # its stub says Any
        raise ArchiveError(f"the pages in the archive can't be read: {error}") from error
    found = {
        str(path.relative_to(folder / "documents")) for path in (folder / "documents").rglob("*") if path.is_file()
    }
    for name in sorted(found ^ expected):
        raise ArchiveError(f"documents/{name} is missing, or nothing in the archive refers to it")


def _checked(folder: Path) -> Iterator[str]:
    """Yield the names of the files that the rows name, each once its content was compared with its name."""
    pages = {row["id"]: row["sha256"] for row in _rows(folder, "documents.Document")}
    for row in _rows(folder, "documents.Tokenization"):
        page, tokens = str(pages[row["document_id"]]), str(row["sha256"])
        text, columns = (_content(folder, name) for name in (page_path(page), tokens_path(tokens)))
        if sha256_of(text.decode()) != page or tokens_address(page, columns) != tokens:
            raise ArchiveError(f"the page {page} in the archive doesn't match its hash")
        yield from (page_path(page), tokens_path(tokens), display_path(tokens))


def _rows(folder: Path, label: str) -> Iterator[dict[str, Any]]:
    names = [field.attname for field in columns_of(model_named(label), label)]
    return (dict(zip(names, row, strict=True)) for row in rows_in(folder, label))


def _content(folder: Path, name: str) -> bytes:
    path = (folder / "documents" / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ArchiveError(f"{name[:80]!r} isn't part of a campaign archive")
    return bytes(igzip.decompress(path.read_bytes()))
