"""The jobs of the exports app."""

import shutil
import tempfile
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from exports.build import FOLDER_PREFIX
from exports.models import Publication, Release
from exports.publishing.services import PublishPayload, publication_run
from exports.services import BuildError, WritePayload, release_write
from exports.targets import StorageTarget
from jobs.registry import JobKind, Lane
from jobs.work import RetryLater, Work
from storage.files import StoreAway


def write(work: Work) -> dict[str, Any]:
    """Write a frozen release into storage, continuing after the last finished file."""
    release = Release.objects.select_related("campaign").get(pk=work.payload_as(WritePayload)["release"])

    def progress(done: int, total: int, name: str, files: dict[str, Any]) -> None:
        with work.step(done=done, total=total, message=name, files=files):
            pass

    try:
        release_write(
            release=release,
            target=StorageTarget(release.folder),
            progress=progress,
            finished=work.job.result.get("files"),
            transaction_open=work.step,
        )
    except StoreAway as error:
        raise RetryLater(str(error)) from error
    except BuildError as error:
        raise BuildError(
            f"{str(error).rstrip('.')}. What was finished is kept; try again once there is room or access."
        ) from error
    return {}


def folders_forget(now: datetime) -> None:
    """Delete temporary folders that killed workers left behind more than a day ago."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with suppress(FileNotFoundError):  # another worker was quicker
            if folder.stat().st_mtime < (now - timedelta(days=1)).timestamp():
                shutil.rmtree(folder, ignore_errors=True)


def publish(work: Work) -> dict[str, Any]:
    """Publish a release to a hub."""
    row = Publication.objects.select_related("release__campaign").get(pk=work.payload_as(PublishPayload)["publication"])
    return publication_run(work=work, row=row)


JOBS = [
    JobKind("exports.write", write, Lane.BULK, action="release"),
    JobKind("exports.publish", publish, Lane.BULK, action="release"),
]
SWEEPS = [folders_forget]
