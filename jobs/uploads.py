"""The file that a job reads: an upload, or (only from the command line) a local file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from django.core.files.storage import default_storage


@contextmanager
def opened(payload: Mapping[str, Any]) -> Iterator[IO[bytes]]:
    """Open the file of a job."""
    if "path" in payload:
        with Path(payload["path"]).open("rb") as file:
            yield file
    else:
        with default_storage.open(payload["file"]) as upload:
            yield cast(IO[bytes], upload.file)


def upload_path(payload: Mapping[str, Any]) -> Path:
    """Return the local path of a job's upload, for a separate process that reads it."""
    return Path(default_storage.path(payload["file"]))


def upload_forget(payload: Mapping[str, Any]) -> None:
    """Delete the upload of a job that ended."""
    if payload.get("file"):
        default_storage.delete(payload["file"])
