"""Jobs for studies."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.payloads import StudyPayload
from quality.studies.selectors.designs import StudyDesign
from quality.studies.services import studies_refresh, study_begin, study_needs_found


def studies(work: Work) -> dict[str, Any]:
    """Compute the studies of the paper."""
    studies_refresh(
        campaign=Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"])), now=timezone.now()
    )
    return {}


def find_study_needs(work: Work) -> dict[str, Any]:
    """Compute the requirements of a study."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    return study_needs_found(campaign=campaign, design=StudyDesign(**work.payload_as(StudyPayload)["design"]))


def begin_study(work: Work) -> dict[str, Any]:
    """Request the annotations of a study."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    return study_begin(work=work, campaign=campaign, design=StudyDesign(**work.payload_as(StudyPayload)["design"]))


JOBS = [
    JobKind("quality.studies", studies, Lane.BULK),
    JobKind("quality.study_needs", find_study_needs, Lane.BULK),
    JobKind("quality.study_begin", begin_study, Lane.BULK),
]
