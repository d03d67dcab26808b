"""Jobs for gold keys."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.uploads import opened, upload_forget
from jobs.work import Work
from quality.gold.services.keys import gold_import
from quality.gold.services.pilot_keys import pilot_keys
from quality.payloads import GoldImportPayload, PilotKeysPayload
from storage.tables.rows import read_rows


def import_gold(work: Work) -> dict[str, Any]:
    """Import gold keys from a file: either all of them or none."""
    payload = work.payload_as(GoldImportPayload)
    campaign = Campaign.objects.get(pk=UUID(payload["campaign"]))
    with opened(payload) as file:
        rows = read_rows(file, payload["name"])
        made = gold_import(
            campaign=campaign,
            rows=rows,
            actor_id=work.job.requested_by_id,
            now=timezone.now(),
            experts=payload["experts"],
        )
    return {"keys": made, "notes": rows.reading.said()}


def keys_of_pilot(work: Work) -> dict[str, Any]:
    """Make gold keys of the pilot items with equal answers."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(PilotKeysPayload)["campaign"]))
    return pilot_keys(work=work, campaign=campaign, experts=work.payload_as(PilotKeysPayload)["experts"])


JOBS = [
    JobKind("quality.import_gold", import_gold, Lane.BULK, upload_forget),
    JobKind("quality.pilot_keys", keys_of_pilot, Lane.BULK),
]
