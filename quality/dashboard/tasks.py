"""Jobs and sweeps of the numbers."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.dashboard.services import numbers_due, quality_numbers_refresh


def numbers(work: Work) -> dict[str, Any]:
    """Compute the numbers of quality control."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    return {}


JOBS = [
    JobKind("quality.numbers", numbers, Lane.UPKEEP),
]
SWEEPS = [numbers_due]
