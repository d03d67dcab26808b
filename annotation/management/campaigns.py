"""Functions that the commands about a campaign share."""

from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import Batch, BatchState, Campaign, CampaignState
from annotation.payloads import LaunchPayload
from jobs.terminal import prepare_database, run_here


def campaign_named(slug: str) -> Campaign:
    """Return a campaign by its short name, or end the command with a list of the existing names."""
    prepare_database()
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        known = ", ".join(Campaign.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(
            f"no campaign has the short name {slug!r}. Existing campaigns: {known} (create one with manage.py create_campaign)"
        )
    return campaign


def launch_here(campaign: Campaign, stderr: Any) -> int:
    """Launch every draft batch of a campaign, open the campaign, and return how many slots were made."""
    slots = 0
    for batch in Batch.objects.filter(campaign=campaign, state=BatchState.DRAFT).order_by("ordinal"):
        payload = LaunchPayload(campaign=str(campaign.pk), batch=batch.pk)
        slots += run_here(kind="annotation.launch", payload=payload, stderr=stderr, scope_id=campaign.pk).result[
            "slots"
        ]
    campaign_move(campaign=campaign, to=CampaignState.OPEN, actor_id=None, now=timezone.now())
    return slots
