"""Locking an annotator's participation before anything of theirs changes."""

from uuid import UUID

from django.db.models import QuerySet

from annotation.models import (
    Campaign,
    Participation,
)
from database.statements import Statement
from database.transactions import require_transaction


def participation_lock(*, campaign_id: UUID, surrogate_id: UUID) -> Participation:
    """Return a person's participation in a campaign, locked until the transaction ends.

    Lock it before changing anything else of this person, so that requests from several tabs run one after another.
    """
    require_transaction()
    place: Participation | None = _PLACE.first(campaign_id, surrogate_id)
    if place is None:
        version = Campaign.objects.values_list("queue_version", flat=True).get(pk=campaign_id)
        Participation.objects.get_or_create(
            campaign_id=campaign_id, surrogate_id=surrogate_id, defaults={"queue_version": version}
        )
        place = _PLACE.first(campaign_id, surrogate_id)
        assert place is not None
    return place


def places_locked(places: QuerySet[Participation]) -> QuerySet[Participation]:
    """Return a query of participations with their campaigns, which locks the participations when it is read."""
    return places.select_related("campaign").select_for_update(no_key=True, of=("self",))


_PLACE = Statement(
    lambda campaign_id, surrogate_id: places_locked(
        Participation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id)
    ),
    UUID,
    UUID,
)
