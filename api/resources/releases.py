"""Releases: create, read and download them."""

from datetime import datetime
from typing import Any

from django.core.files.storage import storages
from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply, Sent, checked
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import Refused, not_found
from api.http.ranges import file_response
from api.http.rows import row_of
from api.models import TokenScope
from exports.build import descriptions_of
from exports.models import Publication, Release, ReleaseState
from exports.publishing.registry import HUBS
from exports.publishing.services import publication_request
from exports.selectors.sealing import closed_by
from exports.services import release_request, release_sent
from exports.views import ReleaseForm
from storage.files import StoreAway

router = Router()


class ReleaseReply(Reply):
    """A release."""

    number: int
    family: str
    ways: int
    splits: list[str]
    seed: int | None
    shards: int
    state: str
    problem: str
    job_id: Any = None
    labels_only: bool
    created_at: datetime
    counts: dict[str, Any] = Field(description="The number of items per split.")
    closed: list[str] = Field(description="Splits that were sealed later, so the files can't be downloaded.")

    @staticmethod
    def resolve_counts(row: Release) -> Any:
        """Return what the manifest counts."""
        return row.manifest.get("splits", {})

    @staticmethod
    def resolve_closed(row: Release) -> Any:
        """Return the splits that close it."""
        return closed_by(row)

    @staticmethod
    def resolve_job_id(row: Release) -> str | None:
        """Return the id of the job that writes it."""
        return str(row.job_id) if row.job_id else None


class PublicationReply(Reply):
    """A release on a hub."""

    hub: str
    address: str
    is_public: bool
    state: str
    problem: str = Field(validation_alias="reason")
    url: str
    version: str
    doi: str
    requested_at: datetime
    done_at: datetime | None


class PublicationsReply(Reply):
    """Where a release is published."""

    results: list[PublicationReply]


class PublicationSent(Sent):
    """A publication to request."""

    hub: str = Field(description=f"One of: {', '.join(HUBS)}.")
    address: str = Field("", max_length=200, description="For the Hugging Face Hub: owner/name.")
    is_public: bool = Field(False, description="Whether everyone sees it. This can't be undone.")
    evaluation_framework: str = Field(
        "", max_length=60, description="For eval.yaml on the Hugging Face Hub, for example inspect-ai."
    )


class FileReply(Reply):
    """A file of a release."""

    name: str
    size: int | None = None
    sha256: str | None = None
    rows: int | None = None


class FilesReply(Reply):
    """The files of a release."""

    results: list[FileReply]


class ReleaseSent(Sent):
    """A release to create."""

    family: str = Field(description="The format, for example nq-original, antique or labels.")
    ways: int | None = Field(None, ge=1, le=200, description="The number of annotations per item.")
    splits: list[str] = Field([], description="Leave empty to include every eligible split.")
    shards: int = Field(1, ge=1, le=100)
    seed: int | None = Field(0, ge=0, le=2**53, description="The seed of the item order; null for the import order.")
    license: str = Field("", max_length=100, description="An SPDX identifier.")
    labels_only: bool = Field(False, description="Omit texts.")
    authors: list[str] = Field([], max_length=200)


def _release(request: ApiRequest, number: int) -> Release:
    return row_of(Release.objects.select_related("campaign", "job").filter(campaign=request.campaign), number=number)


@operation(router, "GET", "/campaigns/{campaign}/releases", Page[ReleaseReply], action=Action.SEE_RELEASES)
def release_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List the releases of a campaign, newest first."""
    rows = Release.objects.filter(campaign=request.campaign)
    return page_of(request, rows, asked, newest_first=True)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/releases",
    ReleaseReply,
    action=Action.RELEASE,
    scope=TokenScope.RELEASE,
    status=202,
)
def release_new(request: ApiRequest, campaign: str, sent: ReleaseSent) -> Release:
    """Create a release: its content is frozen now, and a job writes its files."""
    splits = list(request.campaign.splits.filter(weight__gt=0).order_by("position"))
    data = {**sent.dict(), "licence": sent.license, "authors": "\n".join(sent.authors)}
    cleaned = checked(ReleaseForm(request.campaign, splits, data))
    cleaned["splits"] = [split.name for split in cleaned["splits"]]
    asked = {"ways": None, "labels_only": False, **cleaned}
    made = release_request(campaign=request.campaign, actor_id=request.user.surrogate_id, now=timezone.now(), **asked)
    request.answer_headers["Location"] = f"/api/v1/campaigns/{campaign}/releases/{made.number}"
    return made


@operation(router, "GET", "/campaigns/{campaign}/releases/{int:number}", ReleaseReply, action=Action.SEE_RELEASES)
def release_read(request: ApiRequest, campaign: str, number: int, asked: Query[FieldsQuery]) -> Release:
    """Return a release. It can be downloaded when `state` is `ready`."""
    return _release(request, number)


def _ready(request: ApiRequest, number: int) -> Release:
    row = _release(request, number)
    if row.state != ReleaseState.READY:
        raise Refused(409, "release_not_ready", f"This release is {row.state}.")
    if closed := closed_by(row):
        raise Refused(403, "release_closed", f"Sealed after this release was created: {', '.join(closed)}.")
    return row


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/releases/{int:number}/files",
    FilesReply,
    action=Action.RELEASE,
    scope=TokenScope.RELEASE,
)
def release_files(request: ApiRequest, campaign: str, number: int) -> Any:
    """List the files of a release with sizes and checksums."""
    row = _ready(request, number)
    described = [{"name": name} for name in descriptions_of(row)]
    return {"results": [*described, *({"name": name, **one} for name, one in sorted(row.manifest["files"].items()))]}


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/releases/{int:number}/files/{path:name}",
    None,
    action=Action.RELEASE,
    scope=TokenScope.RELEASE,
)
def release_download(request: ApiRequest, campaign: str, number: int, name: str) -> Any:
    """Download a file of a release. With `Range`, an interrupted download continues."""
    row = _ready(request, number)
    if name not in descriptions_of(row) and name not in row.manifest["files"]:
        raise not_found()
    try:
        file = storages["releases_now"].open(f"{row.folder}/{name}")
    except FileNotFoundError as error:
        raise not_found() from error
    except StoreAway as error:
        raise Refused(
            503, "storage_away", "The file storage isn't responding.", headers={"Retry-After": "60"}
        ) from error
    release_sent(release=row, name=name, actor_id=request.user.surrogate_id, now=timezone.now())
    etag = row.manifest["files"].get(name, {}).get("sha256", "")
    return file_response(request, file, etag=etag)


@operation(
    router,
    "GET",
    "/campaigns/{campaign}/releases/{int:number}/publications",
    PublicationsReply,
    action=Action.SEE_RELEASES,
)
def publication_list(request: ApiRequest, campaign: str, number: int) -> Any:
    """Return where a release is published."""
    return {"results": list(_release(request, number).publications.select_related("job").order_by("hub"))}


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/releases/{int:number}/publications",
    PublicationReply,
    action=Action.RELEASE,
    scope=TokenScope.RELEASE,
    status=202,
)
def publication_new(request: ApiRequest, campaign: str, number: int, sent: PublicationSent) -> Publication:
    """Publish a release to a hub, under the account of this installation. Follow its `state`."""
    row = _ready(request, number)
    if sent.hub not in HUBS:
        raise Refused(422, "invalid", f"hub: expected one of {', '.join(HUBS)}.")
    return publication_request(release=row, actor_id=request.user.surrogate_id, now=timezone.now(), **sent.dict())
