"""Jobs of the experts' work."""

from typing import Any
from uuid import UUID

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.experts.services.cases import cases_sample


def sample_cases(work: Work) -> dict[str, Any]:
    """Put a sample before the experts."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    names = ("count", "seed", "experts", "every_answer", "least")
    return cases_sample(
        work=work, campaign=campaign, **{name: work.payload[name] for name in names if name in work.payload}
    )


JOBS = [
    JobKind("quality.sample_cases", sample_cases, Lane.BULK),
]
