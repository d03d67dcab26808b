"""The quality app's kinds of jobs."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Campaign
from jobs.registry import handles
from jobs.work import Work
from quality.models import Review
from quality.services import flags  # noqa: F401  registers what happens on a skip
from quality.services.examine import campaign_examine
from quality.services.numbers import quality_numbers_refresh
from quality.services.people import person_exclude


@handles("quality.examine")
def examine(work: Work) -> dict[str, Any]:
    """Look at new annotations."""
    return campaign_examine(work=work, campaign=Campaign.objects.get(pk=UUID(work.payload["campaign"])))


@handles("quality.numbers")
def numbers(work: Work) -> dict[str, Any]:
    """Compute the numbers of quality control."""
    campaign = Campaign.objects.get(pk=UUID(work.payload["campaign"]))
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    return {}


@handles("quality.exclude")
def exclude(work: Work) -> dict[str, Any]:
    """Take a suspended person's work out of the votes."""
    review = Review.objects.select_related("campaign").get(pk=work.payload["review"])
    return person_exclude(work=work, review=review, now=timezone.now())
