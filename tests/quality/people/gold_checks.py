"""Gold checks of a person, right or wrong, each of them assessed."""

from django.db import transaction
from django.utils import timezone

from quality.models import GoldCheck, GoldKey
from quality.people.services.pauses import person_assess
from tests import factories


def checked(campaign, person, hits, policy):
    """Let a person answer gold keys, right or wrong."""
    for hit in hits:
        GoldCheck.objects.create(
            annotation=factories.vote(campaign, person, 4),
            key=GoldKey.objects.first(),
            campaign=campaign,
            surrogate_id=person.surrogate_id,
            is_hit=hit,
            at=timezone.now(),
        )
        with transaction.atomic():
            person_assess(campaign=campaign, policy=policy, surrogate_id=person.surrogate_id, now=timezone.now())
