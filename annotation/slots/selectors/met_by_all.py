"""Open slots that cannot be assigned: everyone who works in a campaign has already met their items.

Who may get work and what they have met is decided one claim at a time in `annotation.slots.services.claims` and
`annotation.slots.services.queue`; this asks the same for all people at once.
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
    """Return how many open slots are of items that everybody who could work here has met, or must not meet.

    It takes as long in a large campaign as in a small one: what is far back in the queue is not looked at, so that from
    ``LOOKED_AT`` on there may be more.
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
    """Return who could be given work: annotators with an account, whether they began or not, and whom others send."""
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
