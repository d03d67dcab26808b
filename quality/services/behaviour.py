"""Computing how people work, now and then, and forgetting it when one of them leaves."""

from datetime import datetime, timedelta
from typing import Any

from annotation.models import Campaign
from annotation.services.numbers import numbers_version
from jobs.models import Job
from jobs.services import job_enqueue
from quality.models import BehaviourSnapshot, QualitySnapshot
from quality.selectors.behaviour import behaviour_of

STALE_MINUTES = 10


def behaviour_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and keep how people work."""
    version = numbers_version(campaign)
    BehaviourSnapshot.objects.update_or_create(
        campaign=campaign, defaults={"taken_at": now, "version": version, "data": behaviour_of(campaign)}
    )


def behaviour_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Ask for it anew if something changed, but not within ten minutes."""
    kept = BehaviourSnapshot.objects.filter(campaign=campaign).values_list("taken_at", "version").first()
    recent = kept is not None and now - kept[0] < timedelta(minutes=STALE_MINUTES)
    if recent or (kept is not None and kept[1] == numbers_version(campaign)):
        return None
    return job_enqueue(
        kind="quality.behaviour", payload={"campaign": str(campaign.pk)}, now=now, scope_id=campaign.pk,
        key=f"quality-behaviour:{campaign.pk}",
    )  # fmt: skip


def snapshots_forget(*, campaign: Campaign, **_: Any) -> None:
    """Forget numbers that name one who left: they are computed anew when they are looked at."""
    BehaviourSnapshot.objects.filter(campaign=campaign).delete()
    QualitySnapshot.objects.filter(campaign=campaign).delete()
