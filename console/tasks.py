"""The jobs of the console."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from console.plans.asking import plan_asked
from console.plans.keeping import plan_keep
from console.plans.making import PlanPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work


def plan(work: Work) -> dict[str, Any]:
    """Simulate a campaign under several policies and store the forecast with it."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(PlanPayload)["campaign"]))
    data = plan_asked(campaign, work.payload_as(PlanPayload)["asked"])
    with work.step():
        kept = plan_keep(campaign=campaign, data=data, actor_id=work.job.requested_by_id, now=timezone.now())
    return {"plan": kept.pk}


JOBS = [JobKind("console.plan", plan, Lane.BULK)]
