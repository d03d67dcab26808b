"""Locking annotators' participations before anything of theirs changes."""

from collections.abc import Iterable
from functools import cache, reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from annotation.models import (
    Campaign,
    Participation,
)
from database.statements import Statement
from database.transactions import require_transaction

FEW = 4  # the most people for whom a statement is compiled


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


def people_lock(*, campaign_id: UUID, surrogate_ids: Iterable[UUID]) -> list[Participation]:
    """Lock people's participations in a campaign, in a fixed order; people without one are left out."""
    require_transaction()
    people = sorted(set(surrogate_ids))
    if len(people) > FEW:
        return list(_places(campaign_id, Q(surrogate_id__in=people)))
    return _few_places(len(people)).instances(campaign_id, *people) if people else []


def _places(campaign_id: Any, people: Q) -> QuerySet[Participation]:
    places = Participation.objects.filter(people, campaign_id=campaign_id)
    return places.select_for_update(no_key=True).order_by("pk")


@cache
def _few_places(people: int) -> Statement:
    def build(campaign_id: Any, *surrogate_ids: Any) -> QuerySet[Participation]:
        return _places(campaign_id, reduce(or_, (Q(surrogate_id=one) for one in surrogate_ids)))

    return Statement(build, *[UUID] * (1 + people))
