"""Open slots that can't be assigned, because everyone who works in the campaign has already received their items.

`annotation.slots.services.claims` and `annotation.slots.services.queue` decide for one claim at a time whether a person
can get work and which items they received; this module asks the same for all people at once.
"""

from collections import defaultdict
from uuid import UUID

from django.db.models import Q

from accounts.models import Membership, Role
from annotation.models import (
    BLOCKING,
    Assignment,
    Campaign,
    ItemBar,
    Participation,
    Slot,
    SlotState,
    Standing,
    Withdrawal,
)

LOOKED_AT = 200  # slots at the front of each queue: those that people have passed
MOST_PEOPLE = 200  # more never meet one item


def slots_met_by_all(campaign: Campaign) -> int:
    """Return how many open slots have items that everybody who could work here has received or must not receive.

    The time doesn't grow with the campaign: slots far back in the queue aren't examined, so there may be more of them
    if the result is ``LOOKED_AT`` or higher.
    """
    people = _people(campaign)
    if not 0 < len(people) <= MOST_PEOPLE:
        return 0
    items = [item_id for is_reopened in (False, True) for item_id in _front(campaign, is_reopened=is_reopened)]
    met: dict[int, set[UUID]] = defaultdict(set)
    for rows in (Assignment.objects.filter(state__in=BLOCKING), ItemBar.objects.all()):
        for item_id, surrogate_id in rows.filter(item__in=set(items)).values_list("item", "surrogate"):
            met[item_id].add(surrogate_id)
    return sum(people <= met[item_id] for item_id in items)


def _front(campaign: Campaign, *, is_reopened: bool) -> list[int]:
    """Return the items of the first open slots of a queue."""
    slots = Slot.objects.filter(campaign=campaign, state=SlotState.OPEN, is_reopened=is_reopened)
    return list(slots.order_by("order_key", "pk").values_list("item", flat=True)[:LOOKED_AT])


def _people(campaign: Campaign) -> set[UUID]:
    """Return the people who could get work: annotators with an account, even new ones, and people sent by others."""
    stopped = Q(standing__in=[Standing.PAUSED, Standing.SUSPENDED])
    if campaign.quota is not None:
        stopped |= Q(submitted__gte=campaign.quota)
    places = Participation.objects.filter(campaign=campaign)
    away = (
        places.filter(stopped)
        .values("surrogate")
        .union(Withdrawal.objects.filter(campaign=campaign).values("surrogate"))
    )
    members = Membership.objects.filter(scope_id=campaign.pk, role=Role.ANNOTATOR, user__is_active=True)
    sent = places.filter(surrogate__user=None)
    found = (
        members.exclude(user__surrogate__in=away)
        .values_list("user__surrogate")
        .union(sent.exclude(surrogate__in=away).values_list("surrogate"))
    )
    return {surrogate_id for (surrogate_id,) in found[: MOST_PEOPLE + 1]}
