"""Periodic computation of how people work, and its deletion when one of them leaves."""

from datetime import datetime
from typing import Any

from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, numbers_version, refresh_request
from annotation.models import Campaign
from jobs.models import Job
from quality.models import BehaviourSnapshot, QualitySnapshot
from quality.people.selectors.behaviour import behaviour_of

STALE_MINUTES = 10


def behaviour_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and store how people work."""
    sealed, version = sealed_names(campaign), numbers_version(campaign)
    numbers_keep(
        BehaviourSnapshot, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=behaviour_of(campaign)
    )


def behaviour_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Queue a new computation if something changed, at most every ten minutes."""
    return refresh_request(
        kind="quality.behaviour",
        kept=BehaviourSnapshot.objects.all(),
        version=numbers_version,
        seconds=60 * STALE_MINUTES,
        campaign=campaign,
        now=now,
    )


def snapshots_forget(*, campaign: Campaign, **_: Any) -> None:
    """Delete numbers that name a person who left; they are recomputed at the next view."""
    BehaviourSnapshot.objects.filter(campaign=campaign).delete()
    QualitySnapshot.objects.filter(campaign=campaign).delete()
