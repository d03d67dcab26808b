"""A release as one archive for deposit, optionally anonymized for review."""

import hashlib
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO

from exports.archive import zip_stream
from exports.released.folder import MANIFEST, SUMS, FolderError, ReleasedFolder, small_file, sums_of

CITATION = "CITATION.cff"
DESCRIPTIONS = ("README.md", "FAIR-WORK.md", "croissant.json", MANIFEST)
REMOVED = "[removed for review]"
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ADDRESS = re.compile(r"https?://(?P<host>[^\s/\"'<>)\]]+)[^\s\"'<>)\]]*")
# Of vocabularies and licenses, which name nobody.
_KNOWN = frozenset({"schema.org", "mlcommons.org", "purl.org", "spdx.org"})


def deposit_write(folder: ReleasedFolder, to: Path, *, anonymous: bool) -> int:
    """Write a zip of all files listed in a release's checksums, and return the number of files.

    With ``anonymous``, author names, mail addresses and hosts are removed from the descriptive files, ``CITATION.cff``
    is omitted, and the checksums match the anonymized files. Tables are not changed: check texts that people
    wrote there.

    Raises
    ------
    FolderError
        A file is missing, or the folder isn't a release.
    """
    sums = sums_of(folder.path)
    texts = _scrubbed(folder) if anonymous else {}
    names = [name for name in sums if not (anonymous and name == CITATION)]
    for name in names:
        sums[name] = hashlib.sha256(texts[name]).hexdigest() if name in texts else sums[name]
        if not (folder.path / name).is_file() or (folder.path / name).is_symlink():
            raise FolderError(f"{folder.path / name}: isn't a file")
    texts[SUMS] = "".join(f"{sums[name]}  {name}\n" for name in names).encode()

    def opened(name: str) -> IO[bytes]:
        return BytesIO(texts[name]) if name in texts else (folder.path / name).open("rb")

    with to.open("xb") as file:
        for part in zip_stream(to.stem, ((name, lambda name=name: opened(name)) for name in (*names, SUMS))):  # type: ignore[misc]
            file.write(part)
    return len(names) + 1


def scrubbed(text: str, authors: list[str]) -> str:
    """Return a text without author names, mail addresses and hosts."""
    text = _ADDRESS.sub(lambda found: found.group() if _is_known(found["host"]) else REMOVED, text)
    text = _MAIL.sub(REMOVED, text)
    for name in sorted(_spellings(authors), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", REMOVED, text, flags=re.IGNORECASE)
    return text


def _is_known(host: str) -> bool:
    return any(host.lower() == known or host.lower().endswith(f".{known}") for known in _KNOWN)


def _spellings(authors: list[str]) -> Iterator[str]:
    for author in authors:
        family, _comma, given = (part.strip() for part in author.partition(","))
        yield from {author, family, f"{given} {family}".strip(), given or family}


def _scrubbed(folder: ReleasedFolder) -> dict[str, bytes]:
    authors = folder.manifest.get("authors", [])
    if not isinstance(authors, list) or not all(isinstance(one, str) for one in authors):
        raise FolderError(f"{folder.path}: the authors in the manifest must be text")
    there = [name for name in DESCRIPTIONS if (folder.path / name).is_file()]
    return {name: scrubbed(small_file(folder.path / name).decode(), authors).encode() for name in there}
