"""Storing forecasts with a campaign, to compare them with its results."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.audit import record
from annotation.models import Campaign
from database.transactions import durable
from quality.models import CampaignPlan


@durable
def plan_keep(*, campaign: Campaign, data: dict[str, Any], actor_id: UUID | None, now: datetime) -> CampaignPlan:
    """Store a forecast; earlier ones stay."""
    row = CampaignPlan.objects.create(campaign=campaign, made_at=now, data=data)
    record(action="plan_keep", subject=row, now=now, actor_id=actor_id, scope_id=campaign.pk)
    return row
