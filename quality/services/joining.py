"""What quality control knows of two surrogates that turn out to be one annotator."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from annotation.models import Annotation, Campaign
from quality.models import GoldCheck, Review, ReviewState
from quality.services.people import exclusion_request


def checks_join(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move gold checks, an open review and a suspension to the person, whose work then counts no more either."""
    moved = Annotation.objects.filter(campaign=campaign, surrogate_id=after)
    GoldCheck.objects.filter(campaign=campaign, surrogate_id=before, annotation__in=moved).update(surrogate_id=after)
    reviews = Review.objects.filter(campaign=campaign, state=ReviewState.OPEN)
    if not reviews.filter(surrogate_id=after).exists():
        reviews.filter(surrogate_id=before).update(surrogate_id=after)
    suspended = Review.objects.filter(campaign=campaign, surrogate_id=before, state=ReviewState.SUSPENDED)
    for review in suspended:
        Review.objects.filter(pk=review.pk).update(surrogate_id=after)
        exclusion_request(review=review, actor_id=review.decided_by_id, now=timezone.now())
