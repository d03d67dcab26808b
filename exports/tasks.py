"""The jobs of the exports app."""

from typing import Any

from exports.build import build_release
from exports.models import Release
from exports.services import release_finish
from exports.targets import StorageTarget
from jobs.registry import JobKind, Lane
from jobs.work import Work


def write(work: Work) -> dict[str, Any]:
    """Write a frozen release into storage, going on after the last finished file."""
    release = Release.objects.select_related("campaign").get(pk=work.payload["release"])

    def progress(done: int, total: int, name: str, files: dict[str, Any]) -> None:
        with work.step(done=done, total=total, message=name, files=files):
            pass

    manifest = build_release(release, StorageTarget(release.folder), progress, work.job.result.get("files"))
    with work.step():
        release_finish(release=release, manifest=manifest)
    return {}


JOBS = [JobKind("exports.write", write, Lane.BULK)]
