"""Publish releases to hubs."""

import shutil
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict
from uuid import UUID

from django.conf import settings
from django.core.files.storage import storages
from django.db import transaction
from django.utils import timezone

from accounts.audit import record
from annotation.locks import campaign_lock
from exports.build import FOLDER_PREFIX, descriptions_of
from exports.models import Publication, PublicationState, Release, ReleaseState
from exports.publishing.base import Hub, HubAway, PublishError, Wanted
from exports.publishing.hugging_face import FRAMEWORK
from exports.publishing.registry import HUBS
from exports.selectors.sealing import closed_by
from jobs.events import event_add
from jobs.models import JobState
from jobs.services import job_enqueue
from jobs.work import RetryLater, Work
from storage.files import StoreAway

GIVEN_UP = timedelta(days=1)  # without an answer of the hub


class PublishPayload(TypedDict):
    """The payload of the job that publishes a release."""

    publication: int


def publication_request(
    *,
    release: Release,
    hub: str,
    address: str = "",
    is_public: bool,
    evaluation_framework: str = "",
    actor_id: UUID | None,
    now: datetime,
) -> Publication:
    """Queue the publication of a release, once per hub; ask again to make a private one public.

    Raises
    ------
    PublishError
        The hub isn't configured or wouldn't take it, the name isn't this campaign's, or the release isn't ready.
    """
    there = HUBS[hub]
    if not there.is_configured():
        raise PublishError("publish_away", hub=there.title)
    if evaluation_framework and not FRAMEWORK.fullmatch(evaluation_framework):
        raise PublishError("publish_framework")
    with transaction.atomic():
        campaign_lock(release.campaign)
        _check_is_ready(release)
        address = there.check(release, address)
        row, created = Publication.objects.select_for_update(of=("self",), no_key=True).get_or_create(
            release=release, hub=hub, defaults={"address": address, "is_public": is_public, "requested_at": now}
        )
        if not created and _is_running(row):
            raise PublishError("publish_busy")
        if row.address.lower() != address.lower():
            if row.remote.get("claimed"):
                raise PublishError("publish_moved", name=row.address)
            row.address = address
        if row.state == PublicationState.DONE and row.is_public:
            return row  # there is nothing more to do, and nothing can be taken back
        row.is_public = row.is_public or is_public
        _check_is_ours(row, there)
        row.options = {"evaluation_framework": evaluation_framework}
        row.state, row.problem, row.requested_at = PublicationState.PUBLISHING, "", now
        row.job = job_enqueue(
            kind="exports.publish",
            payload=PublishPayload(publication=row.pk),
            now=now,
            scope_id=release.campaign_id,
            requested_by_id=actor_id,
            key=f"publish:{row.pk}",
        )
        row.save(update_fields=["address", "is_public", "options", "state", "problem", "requested_at", "job"])
        record(
            action="release_publish",
            subject=release,
            now=now,
            actor_id=actor_id,
            scope_id=release.campaign_id,
            hub=hub,
            address=address,
            public=row.is_public,
        )
    return row


def _is_running(row: Publication) -> bool:
    return row.job is not None and row.job.state in (JobState.QUEUED, JobState.RUNNING)


def _check_is_ready(release: Release) -> None:
    if release.state != ReleaseState.READY or closed_by(release):
        raise PublishError("publish_not_ready")


def _check_is_ours(row: Publication, hub: Hub) -> None:
    """Refuse a name of another campaign, a second publication at the same time, and what would show more than asked.

    People who see a repository see all releases in it, also earlier ones.
    """
    others = Publication.objects.filter(hub=hub.key).exclude(pk=row.pk).select_related("release", "job")
    campaign_id = row.release.campaign_id
    if row.address and others.filter(address__iexact=row.address).exclude(release__campaign=campaign_id).exists():
        raise PublishError("publish_taken", name=row.address)
    own = list(others.filter(release__campaign=campaign_id))
    if any(_is_running(one) and one.state == PublicationState.PUBLISHING for one in own):
        raise PublishError("publish_busy")
    if not hub.takes_name:
        return
    beside = [one for one in own if one.address.lower() == row.address.lower() and one.remote.get("claimed")]
    if not row.is_public and any(one.is_public for one in beside):
        raise PublishError("publish_is_public", name=row.address)
    if row.is_public and (closed := [one.release.number for one in beside if closed_by(one.release)]):
        raise PublishError("publish_closed_beside", name=row.address, release=closed[0])
    is_there = row.state == PublicationState.DONE  # then only who sees it changes
    if not is_there and any(one.release.number > row.release.number for one in beside):
        raise PublishError("publish_older")


def publication_run(*, work: Work, row: Publication) -> dict[str, Any]:
    """Publish a release, or go on after an interruption; return where it is.

    Raises
    ------
    RetryLater
        The hub or our storage doesn't respond.
    PublishError
        It can't be published. The row says why.
    """

    def remember(kept: dict[str, Any]) -> None:
        with work.step():
            row.remote = {**row.remote, **kept}
            Publication.objects.filter(pk=row.pk).update(remote=row.remote)

    def confirm() -> None:
        with work.step():
            _check_is_ready(Release.objects.get(pk=row.release_id))
            _check_is_ours(row, hub)

    hub = HUBS[row.hub]
    try:
        _check_time(row, hub)
        confirm()
        hub.visit()
        _check_space(row.release)
        with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX) as name:
            folder = Path(name) / "release"
            _fetch(work, row.release, folder)
            wanted = Wanted(
                row.release, row.address, row.is_public, folder, row.options, row.remote, _earlier(row, hub)
            )
            found = hub.publish(wanted, remember, confirm)
    except (HubAway, StoreAway) as error:
        raise RetryLater(str(error)) from error
    except PublishError as error:
        with work.step():
            Publication.objects.filter(pk=row.pk).update(state=PublicationState.FAILED, problem=str(error)[:500])
        raise
    now = timezone.now()
    with work.step():
        Publication.objects.filter(pk=row.pk).update(
            state=PublicationState.DONE, problem="", url=found.url, version=found.version, doi=found.doi, done_at=now
        )
        if row.is_public:
            _shown_too(row, hub)
            event_add(
                kind="release.published",
                scope_id=row.release.campaign_id,
                now=now,
                key=f"release.published:{row.pk}",
                release=row.release.number,
                hub=row.hub,
                url=found.url,
            )
    return {"url": found.url, "doi": found.doi}


def _shown_too(row: Publication, hub: Hub) -> None:
    """Note that the campaign's other releases under the same name are public from now on, too."""
    if hub.takes_name:
        beside = Publication.objects.filter(hub=row.hub, address__iexact=row.address, state=PublicationState.DONE)
        beside.filter(release__campaign=row.release.campaign_id).update(is_public=True)


def _check_time(row: Publication, hub: Hub) -> None:
    if timezone.now() - row.requested_at > GIVEN_UP:
        raise PublishError("publish_gave_up", hub=hub.title)


def _check_space(release: Release) -> None:
    """Refuse to fetch a release if the disk hasn't room for it twice: some hubs take it as one archive."""
    size = 2 * sum(int(file["size"]) for file in release.manifest["files"].values())
    if shutil.disk_usage(tempfile.gettempdir()).free < size + settings.DISK_FLOOR_BYTES:
        raise PublishError("publish_space")


def _earlier(row: Publication, hub: Hub) -> dict[str, Any]:
    """Return what was kept of the last publication of this campaign that this one continues."""
    same = Publication.objects.filter(
        hub=row.hub, address__iexact=row.address, release__campaign=row.release.campaign_id
    ).exclude(pk=row.pk)
    return next((dict(one.remote) for one in same.order_by("-done_at", "-pk") if hub.continues(one)), {})


def _fetch(work: Work, release: Release, folder: Path) -> None:
    """Copy the files of a release into a folder, from our storage."""
    names = [*descriptions_of(release), *release.manifest["files"]]
    for done, name in enumerate(names):
        work.progress(done, len(names), name)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with storages["releases"].open(f"{release.folder}/{name}") as source, path.open("wb") as file:
                shutil.copyfileobj(source, file)
        except FileNotFoundError as error:
            raise PublishError("publish_not_ready") from error
