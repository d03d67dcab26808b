"""Imports: pages, items, published files and gold keys, each by a job."""

from typing import Any

from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.operations import ApiRequest, operation
from api.http.problems import invalid
from api.models import TokenScope
from api.resources.jobs import JobReply, job_queued
from api.resources.uploads import UploadQuery
from jobs.models import Job
from quality.experts.services.cases import MOST_EXPERTS

router = Router()

TABLES = (
    "application/x-ndjson",
    "application/jsonl",
    "text/csv",
    "text/tab-separated-values",
    "application/vnd.apache.parquet",
)
PAGES = ("application/x-ndjson", "application/jsonl", "text/html", "application/zip")
PUBLISHED = ("application/x-ndjson", "application/jsonl", "application/gzip")


class NameQuery(UploadQuery):
    """The parameter of every import."""

    name: str = Field("", max_length=200, description="The name of the file, as shown on pages and in messages.")


class ItemsQuery(NameQuery):
    """The parameters of an import of items."""

    dry_run: bool = Field(False, description="Check all rows and import nothing.")
    good_rows_only: bool = Field(False, description="Import valid rows even if other rows have errors.")
    pilot: bool = Field(False, description="Import as a pilot, which is excluded from the dataset.")
    people: int = Field(2, ge=2, le=25, description="The number of annotators per pilot item.")
    encoding: str = Field("", max_length=40, description="The encoding of a CSV or TSV file that isn't UTF-8.")


class GoldQuery(NameQuery):
    """The parameters of an import of gold keys."""

    experts: int = Field(1, ge=0, le=MOST_EXPERTS, description="The number of experts who confirm each key.")


class PublishedQuery(NameQuery):
    """The parameters of an import of a published file."""

    with_annotations: bool = Field(False, description="Import its annotations too.")


def upload_queued(request: ApiRequest, kind: str, asked: NameQuery, **options: Any) -> Job:
    """Queue the job that reads what was received."""
    received = request.received
    ending = received.name.removeprefix("upload")
    name = asked.name or received.name
    if not name.lower().endswith(ending) and not (ending == ".html" and name.lower().endswith(".htm")):
        raise invalid([{"field": "name", "detail": f"With this content type, the name must end in {ending}."}])
    payload = {"campaign": str(request.campaign.pk), "file": received.take(), "name": name, **options}
    return job_queued(request, kind, payload)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/items:import",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.IMPORT,
    status=202,
    uploads=TABLES,
)
def item_import(request: ApiRequest, campaign: str, asked: Query[ItemsQuery]) -> Job:
    """Import items from a table.

    The rows and columns are those of the import page. All rows are checked before any is imported, and importing a
    row again changes nothing. The job's `errors` name rows and fields.
    """
    options = asked.dict(exclude={"name", "encoding", "upload"})
    return upload_queued(request, "annotation.import_items", asked, **options, encoding=asked.encoding or None)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/documents:import",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.IMPORT,
    status=202,
    uploads=PAGES,
)
def document_import(request: ApiRequest, campaign: str, asked: Query[NameQuery]) -> Job:
    """Import pages: one HTML file, a zip archive of them, or JSON lines with `url`, `title` and `html`.

    For a single HTML file, `name` is the name of the page.
    """
    return upload_queued(request, "annotation.import_documents", asked)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/items:import-published",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.IMPORT,
    status=202,
    uploads=PUBLISHED,
)
def published_import(request: ApiRequest, campaign: str, asked: Query[PublishedQuery]) -> Job:
    """Import a published Natural Questions file in the original format."""
    return upload_queued(request, "annotation.import_nq", asked, with_annotations=asked.with_annotations)


@operation(
    router,
    "POST",
    "/campaigns/{campaign}/gold-keys:import",
    JobReply,
    action=Action.MANAGE,
    scope=TokenScope.MANAGE,
    status=202,
    uploads=TABLES,
)
def gold_import(request: ApiRequest, campaign: str, asked: Query[GoldQuery]) -> Job:
    """Import gold keys: rows like those of items, with the correct answers in the column `accepted`."""
    return upload_queued(request, "quality.import_gold", asked, experts=asked.experts)
