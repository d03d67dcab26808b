"""Receiving files of any size, before the transaction of the request begins."""

import hashlib
import uuid
from collections.abc import Iterator
from typing import IO, Any

from django.core.files.storage import default_storage
from django.http import HttpRequest, UnreadablePostError

from api.http.problems import Refused

PIECE = 2**20
# The endings of file names, by content type: readers choose the format by the name.
ENDINGS = {
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/vnd.apache.parquet": "parquet",
    "text/html": "html",
    "application/json": "json",
    "application/zip": "zip",
    "application/gzip": "jsonl.gz",
}


class Received:
    """A stored upload: its place, its name, and the hash of its bytes. It is deleted unless a job takes it."""

    def __init__(self, stored: str, name: str, sha256: str) -> None:
        self.stored, self.name, self.sha256 = stored, name, sha256
        self.is_taken = False

    def take(self) -> str:
        """Return the place of the upload, for a job that will delete it."""
        self.is_taken = True
        return self.stored

    def open(self) -> IO[Any]:
        """Open the upload."""
        return default_storage.open(self.stored)

    def forget(self) -> None:
        """Delete the upload, because nothing will read it."""
        default_storage.delete(self.stored)


class _Body:
    """The body of a request, in pieces, with its hash."""

    def __init__(self, request: HttpRequest, length: int) -> None:
        self._request, self._length, self.sha256 = request, length, hashlib.sha256()

    def chunks(self) -> Iterator[bytes]:
        got = 0
        while piece := self._request.read(PIECE):
            got += len(piece)
            self.sha256.update(piece)
            yield piece
        if got != self._length:
            raise Refused(400, "body_incomplete", f"The connection ended after {got} of {self._length} bytes.")


def body_receive(request: HttpRequest, kinds: tuple[str, ...]) -> Received:
    """Store the body of a request as an upload.

    Raises
    ------
    Refused
        The content type isn't one of ``kinds`` (415), the length isn't stated (411), or the connection ended early.
    """
    kind = (request.content_type or "").lower()
    if kind not in kinds:
        raise Refused(415, "content_type", f"Send one of these content types: {', '.join(kinds)}.")
    try:
        length = int(request.headers.get("Content-Length", ""))
    except ValueError as error:
        raise Refused(411, "length_missing", "Send the header Content-Length.") from error
    stored, sha256 = body_store(request, length)
    return Received(stored, received_name(kind), sha256)


def received_name(kind: str) -> str:
    """Return the name of an upload of a content type, with the ending by which readers choose the format."""
    return f"upload.{ENDINGS[kind]}" if kind in ENDINGS else "upload"


def body_store(request: HttpRequest, length: int) -> tuple[str, str]:
    """Store a body of a stated length in bytes; return its place and SHA-256.

    Raises
    ------
    Refused
        The connection ended early (400), or the disk is full (507).
    """
    body: Any = _Body(request, length)
    try:
        return default_storage.save(str(uuid.uuid4()), body), body.sha256.hexdigest()
    except UnreadablePostError as error:
        raise Refused(400, "body_incomplete", "The connection ended before the whole body arrived.") from error
    except OSError as error:
        raise Refused(507, "storage_full", "The upload can't be stored. Nothing was imported.") from error
