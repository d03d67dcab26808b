"""The jobs and sweeps of the quality app."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.registry import JobKind, Lane
from jobs.work import Work
from quality.models import Review
from quality.services.examine import campaign_examine, examine_due
from quality.services.numbers import quality_numbers_refresh
from quality.services.people import person_exclude, reviews_lapse


def examine(work: Work) -> dict[str, Any]:
    """Look at new annotations."""
    return campaign_examine(work=work, campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])))


def numbers(work: Work) -> dict[str, Any]:
    """Compute the numbers of quality control."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    return {}


def exclude(work: Work) -> dict[str, Any]:
    """Take a suspended person's work out of the votes."""
    review = Review.objects.select_related("campaign").get(pk=work.payload["review"])
    return person_exclude(work=work, review=review, now=timezone.now())


JOBS = [
    JobKind("quality.examine", examine, Lane.UPKEEP),
    JobKind("quality.numbers", numbers, Lane.UPKEEP),
    JobKind("quality.exclude", exclude, Lane.UPKEEP),
]
SWEEPS = [examine_due, reviews_lapse]
