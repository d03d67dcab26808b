"""Jobs of the experts' work."""

from typing import Any
from uuid import UUID

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.experts.services.cases import cases_sample
from quality.payloads import CasesSamplePayload


def sample_cases(work: Work) -> dict[str, Any]:
    """Put a sample before the experts."""
    asked = work.payload_as(CasesSamplePayload)
    campaign = Campaign.objects.get(pk=UUID(asked["campaign"]))
    return cases_sample(
        work=work,
        campaign=campaign,
        count=asked["count"],
        seed=asked["seed"],
        experts=asked["experts"],
        every_answer=asked["every_answer"],
        least=asked.get("least", 1),
    )


JOBS = [
    JobKind("quality.sample_cases", sample_cases, Lane.BULK),
]
