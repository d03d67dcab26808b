"""What quality control knows of two surrogates that turn out to be one annotator."""

from typing import Any
from uuid import UUID

from annotation.models import Annotation, Campaign
from quality.models import GoldCheck, Review, ReviewState


def checks_join(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move gold checks and an open review to the person."""
    moved = Annotation.objects.filter(campaign=campaign, surrogate_id=after)
    GoldCheck.objects.filter(campaign=campaign, surrogate_id=before, annotation__in=moved).update(surrogate_id=after)
    reviews = Review.objects.filter(campaign=campaign, state=ReviewState.OPEN)
    if not reviews.filter(surrogate_id=after).exists():
        reviews.filter(surrogate_id=before).update(surrogate_id=after)
