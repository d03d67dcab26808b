"""Jobs and sweeps of the examination."""

from typing import Any
from uuid import UUID

from annotation.models import Campaign
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.examination.services import campaign_examine, examine_due


def examine(work: Work) -> dict[str, Any]:
    """Examine new annotations."""
    return campaign_examine(
        work=work, campaign=Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    )


JOBS = [
    JobKind("quality.examine", examine, Lane.UPKEEP),
]
SWEEPS = [examine_due]
