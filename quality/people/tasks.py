"""Jobs and periodic tasks about annotators."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.payloads import CampaignPayload
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.models import Review
from quality.payloads import DryRunPayload, PersonWorkPayload, ReviewPayload
from quality.people.services.behaviour import behaviour_refresh
from quality.people.services.manager_acts import person_work
from quality.people.services.reviews import person_exclude, reviews_lapse
from quality.people.services.rules import rule_dry_run
from quality.people.services.suspensions import person_restore


def restore(work: Work) -> dict[str, Any]:
    """Restore the votes that a lifted suspension had excluded."""
    review = Review.objects.select_related("campaign").get(pk=work.payload_as(ReviewPayload)["review"])
    return person_restore(work=work, review=review, now=timezone.now())


def person_work_move(work: Work) -> dict[str, Any]:
    """Exclude a person's work from a date on, or restore it."""
    payload = work.payload_as(PersonWorkPayload)
    return person_work(
        work=work,
        campaign=Campaign.objects.get(pk=UUID(payload["campaign"])),
        surrogate_id=UUID(payload["surrogate"]),
        since=datetime.fromisoformat(payload["since"]),
        excludes=payload["excludes"],
    )


def dry_run(work: Work) -> dict[str, Any]:
    """Test a rule on stored history."""
    campaign = Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"]))
    return rule_dry_run(work=work, campaign=campaign, fields=work.payload_as(DryRunPayload)["rule"])


def behaviour(work: Work) -> dict[str, Any]:
    """Compute statistics on how people work."""
    behaviour_refresh(
        campaign=Campaign.objects.get(pk=UUID(work.payload_as(CampaignPayload)["campaign"])), now=timezone.now()
    )
    return {}


def exclude(work: Work) -> dict[str, Any]:
    """Exclude a suspended person's work."""
    review = Review.objects.select_related("campaign").get(pk=work.payload_as(ReviewPayload)["review"])
    return person_exclude(work=work, review=review, now=timezone.now())


JOBS = [
    JobKind("quality.behaviour", behaviour, Lane.UPKEEP),
    JobKind("quality.exclude", exclude, Lane.UPKEEP),
    JobKind("quality.restore", restore, Lane.UPKEEP),
    JobKind("quality.person_work", person_work_move, Lane.UPKEEP),
    JobKind("quality.dry_run", dry_run, Lane.BULK),
]
SWEEPS = [reviews_lapse]
