"""Asking for forecasts, and storing them with a campaign, to compare them with its results."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.audit import record
from annotation.models import Campaign
from database.transactions import durable
from jobs.models import Job
from jobs.services import job_enqueue
from quality.models import CampaignPlan
from quality.payloads import PlanPayload
from quality.plans.setting import PlanError


def plan_request(*, campaign: Campaign, asked: dict[str, Any], actor_id: UUID | None, now: datetime) -> Job:
    """Queue the job that forecasts a campaign. It takes minutes of a core, so a campaign has one at a time.

    Raises
    ------
    PlanError
        One is waiting or running.
    """
    key = f"plan-{campaign.pk}"
    payload = PlanPayload(campaign=str(campaign.pk), asked=asked)
    job = job_enqueue(
        kind="quality.plan", payload=payload, now=now, scope_id=campaign.pk, requested_by_id=actor_id, key=key
    )
    if job.created_at != now:  # an earlier one came back
        raise PlanError("plan_running")
    return job


@durable
def plan_keep(*, campaign: Campaign, data: dict[str, Any], actor_id: UUID | None, now: datetime) -> CampaignPlan:
    """Store a forecast; earlier ones stay."""
    row = CampaignPlan.objects.create(campaign=campaign, made_at=now, data=data)
    record(action="plan_keep", subject=row, now=now, actor_id=actor_id, scope_id=campaign.pk)
    return row
