"""The jobs and sweeps of the annotation app."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.items.services.documents import documents_import
from annotation.items.services.items import items_import
from annotation.items.services.published import published_import
from annotation.models import Batch, Campaign, Split
from annotation.notifications.services import failed_jobs_tell, notifications_due, notifications_send
from annotation.payloads import (
    DocumentsImportPayload,
    ExtendPayload,
    ItemsImportPayload,
    LaunchPayload,
    NqImportPayload,
)
from annotation.people.services.withdrawal import withdrawals_apply
from annotation.slots.services.slots import batch_launch, batches_open, items_extend
from annotation.slots.services.sweeps import assignments_expire
from annotation.work.services.events import events_trim
from documents.intake import read_folder, read_pages
from documents.services import limits
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from storage.tables.rows import read_rows
from storage.tables.used import ColumnsUsed


def import_documents(work: Work) -> dict[str, Any]:
    """Import pages from a file or a folder."""
    campaign, max_bytes = _campaign(work), limits().max_bytes
    asked = work.payload_as(DocumentsImportPayload)
    folder = Path(asked.get("path", ""))
    if "path" in asked and folder.is_dir():
        return documents_import(work=work, campaign=campaign, pages=read_folder(folder, max_bytes=max_bytes))
    with opened(asked) as file:
        pages = read_pages(file, asked["name"], max_bytes=max_bytes)
        return documents_import(work=work, campaign=campaign, pages=pages)


def import_items(work: Work) -> dict[str, Any]:
    """Import items from a file."""
    asked = work.payload_as(ItemsImportPayload)
    with opened(asked) as file:
        rows, used = read_rows(file, asked["name"], encoding=asked.get("encoding")), ColumnsUsed()
        return items_import(
            work=work,
            campaign=_campaign(work),
            rows=used.watched(rows),
            notes=lambda: [*rows.reading.said(), *used.unused(rows.reading.columns)],
            pilot=asked["pilot"],
            good_rows_only=asked["good_rows_only"],
            people=asked.get("people") or 2,
            dry_run=asked.get("dry_run", False),
        )


def import_nq(work: Work) -> dict[str, Any]:
    """Import a published Natural Questions file."""
    asked = work.payload_as(NqImportPayload)
    with opened(asked) as file:
        return published_import(
            work=work,
            campaign=_campaign(work),
            file=file,
            name=asked["name"],
            with_annotations=asked["with_annotations"],
        )


def launch(work: Work) -> dict[str, Any]:
    """Give the items of a batch their slots and open it."""
    asked = work.payload_as(LaunchPayload)
    batch = Batch.objects.select_related("campaign").get(pk=asked["batch"], campaign_id=UUID(asked["campaign"]))
    result = batch_launch(work=work, batch=batch, actor_id=work.job.requested_by_id)
    numbers_refresh(campaign=batch.campaign, now=timezone.now())
    return result


def extend(work: Work) -> dict[str, Any]:
    """Ask for more annotations of a sample."""
    asked, campaign = work.payload_as(ExtendPayload), _campaign(work)
    count = items_extend(
        campaign=campaign,
        split=Split.objects.get(campaign=campaign, name=asked["split"]),
        n=asked["n"],
        sample=asked["sample"],
        seed=asked["seed"],
        actor_id=work.job.requested_by_id,
        now=timezone.now(),
        step=work.step,
    )
    return {"items": count}


def numbers(work: Work) -> dict[str, Any]:
    """Compute a campaign's numbers."""
    campaign = _campaign(work)
    numbers_refresh(campaign=campaign, now=timezone.now())
    return {}


def notifications(work: Work) -> dict[str, Any]:
    """Send the emails that wait."""
    return notifications_send(work=work)


def _campaign(work: Work) -> Campaign:
    return Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))


JOBS = [
    JobKind("annotation.import_documents", import_documents, Lane.BULK, upload_forget),
    JobKind("annotation.import_items", import_items, Lane.BULK, upload_forget),
    JobKind("annotation.import_nq", import_nq, Lane.BULK, upload_forget),
    JobKind("annotation.launch", launch, Lane.BULK),
    JobKind("annotation.extend", extend, Lane.BULK),
    JobKind("annotation.numbers", numbers, Lane.UPKEEP),
    JobKind("annotation.notifications", notifications, Lane.MARKETPLACE),
]
SWEEPS = [assignments_expire, batches_open, withdrawals_apply, events_trim, notifications_due, failed_jobs_tell]
