"""The file that a job reads: an upload, or (only from the command line) a local file."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, cast

from django.core.files.storage import default_storage

from jobs.models import Job, JobState

NOBODYS_HOURS = 24
AT_ONCE = 1_000  # files that one statement looks up


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


def uploads_forget(now: datetime) -> None:
    """Delete uploads that no job will read: the process that stored them was killed before it could queue the job."""
    root, before = Path(default_storage.path("")), (now - timedelta(hours=NOBODYS_HOURS)).timestamp()
    if not root.is_dir():
        return
    old = []
    for one in os.scandir(root):
        with suppress(FileNotFoundError):  # its job has just ended
            if one.is_file() and one.stat().st_mtime < before:
                old.append(one.name)
    may_read = [JobState.QUEUED, JobState.RUNNING, JobState.FAILED]  # which indexes find, among all that are done
    for start in range(0, len(old), AT_ONCE):
        some = old[start : start + AT_ONCE]
        wanted = Job.objects.filter(state__in=may_read, payload__file__in=some)
        for name in set(some) - set(wanted.values_list("payload__file", flat=True)):
            default_storage.delete(name)
