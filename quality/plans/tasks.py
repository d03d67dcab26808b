"""The job that forecasts a campaign."""

from itertools import count
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.payloads import PlanPayload
from quality.plans.asking import plan_asked
from quality.plans.services import plan_keep


def plan(work: Work) -> dict[str, Any]:
    """Simulate a campaign under several policies and store the forecast with it."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(PlanPayload)["campaign"]))
    runs = count(1)
    data = plan_asked(campaign, work.payload_as(PlanPayload)["asked"], on_run=lambda: work.progress(next(runs)))
    with work.step():
        kept = plan_keep(campaign=campaign, data=data, actor_id=work.job.requested_by_id, now=timezone.now())
    return {"plan": kept.pk}


JOBS = [
    JobKind("quality.plan", plan, Lane.BULK),
    JobKind("console.plan", plan, Lane.BULK),  # its name up to 0.2: queued before an upgrade
]
