"""The selection of gold questions for annotators: exposures are created a few items ahead.

Annotators' pages have no access to gold keys: they show items that `annotation` stores as injections, and send a signal
when a person reaches the end of the planned items.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from accounts.selectors import is_known
from annotation.models import (
    BLOCKING,
    Annotation,
    Assignment,
    Campaign,
    Injection,
    Item,
    ItemState,
    Participation,
    Purpose,
    Slot,
    SlotState,
    Standing,
)
from annotation.people.services.standing import injections_scheduled
from annotation.slots.ordering import seeded
from database.statements import Statement
from database.transactions import require_transaction
from quality.models import GoldCheck, GoldKey, GoldKeyState, Review, ReviewState
from quality.people.services.pauses import person_pause
from quality.policies.policy import Policy
from quality.policies.selectors import policy_current

AHEAD = 10  # items
AHEAD_OF_UNKNOWN = 2  # what is minted for a visit that does not go on is lost
REPLACE_WITHIN = 8  # items
MOST_ATTEMPTS = 5  # at a key, while others take exposures of the same ones
MOST_UPSETTING = 10  # exposures skipped as offensive that are replaced, so that skipping leads past few checks
RAISED, MOST_RATE = 3, 0.5  # times the share of checks while a manager is asked; its maximum
MOST_PASSED = 5  # exposures that a person passes without an answer, before a manager looks at it


def exposures_schedule(*, place: Participation, now: datetime, **_: Any) -> None:
    """Create the exposures among an annotator's next few items. The participation must be locked.

    The first items contain more exposures; after that each block of ``1 / rate`` items contains one, at a position
    drawn by the campaign's seed. The first items are those after a pilot that the annotator took part in. An exposure that passed without a check is replaced soon after, so annotators who skip
    items, or don't submit them, are checked too.
    """
    require_transaction()
    campaign, found = place.campaign, policy_current(place.campaign)
    is_someone = bool(_KNOWN.rows(place.pk))
    begin, end = place.planned_to, place.served + (AHEAD if is_someone else AHEAD_OF_UNKNOWN)
    injections_scheduled(place=place, planned_to=end)
    if found is None or not _HAS_KEY.rows(campaign.pk):
        return
    policy = _raised(found[1], place)
    after = _pilot_items(place)
    drawn = _places(campaign.seed, policy, place.surrogate_id, max(0, begin - after), end - after)
    places = [*(after + position for position in drawn), *_replaced(place, policy, now)]
    if places and not is_someone:
        places = places[: _left_for_unknown(campaign, policy)]
    for position in places:
        _mint(campaign, policy, place.surrogate_id, position)


def _raised(policy: Policy, place: Participation) -> Policy:
    """Return the policy with more gold checks, if a manager was asked about this annotator instead of pausing them."""
    if not policy.ask_first or not policy.gold_rate:
        return policy
    asked = Review.objects.filter(
        campaign=place.campaign, surrogate_id=place.surrogate_id, state=ReviewState.OPEN, evidence__asked=True
    )
    return replace(policy, gold_rate=min(MOST_RATE, RAISED * policy.gold_rate)) if asked.exists() else policy


def _pilot_items(place: Participation) -> int:
    """Return how many pilot items an annotator received before their first exposure is planned; 0 after that."""
    own = {"campaign": place.campaign, "surrogate_id": place.surrogate_id}
    if Injection.objects.filter(**own).exists():
        return 0
    pilots = Item.objects.filter(campaign=place.campaign, batch__purpose=Purpose.PILOT)
    return Assignment.objects.filter(**own, item__in=pilots).count()


def _keys(campaign_id: UUID) -> Any:
    return GoldKey.objects.filter(campaign_id=campaign_id, state=GoldKeyState.ACTIVE, item__state=ItemState.ACTIVE)


_HAS_KEY = Statement(lambda campaign_id: _keys(campaign_id).values_list("pk")[:1], UUID)
_KNOWN = Statement(lambda pk: Participation.objects.filter(is_known(), pk=pk).values_list("pk"), int)


def _left_for_unknown(campaign: Campaign, policy: Policy) -> int:
    """Return how many exposures are left for unverified visits, which get at most half of all exposures.

    Anyone can make up such visits, and the exposures they use up aren't available for others.
    """
    spent = Injection.objects.filter(~is_known(), campaign=campaign).count()
    return max(0, int(_keys(campaign.pk).count()) * policy.gold_most_exposures // 2 - spent)


def _places(seed: int, policy: Policy, surrogate_id: UUID, begin: int, end: int) -> Iterator[int]:
    """Yield the positions of exposures between two positions among an annotator's items."""
    first, length = policy.gold_first_items, round(1 / policy.gold_rate) if policy.gold_rate else 0
    if begin < first:
        yield from (place for place in _drawn(seed, surrogate_id, 0, first, policy.gold_first) if begin <= place < end)
    if length:
        # The blocks begin where the first items end.
        for block in range(first + max(0, begin - first) // length * length, end, length):
            yield from (place for place in _drawn(seed, surrogate_id, block, length, 1) if begin <= place < end)


def _drawn(seed: int, surrogate_id: UUID, begin: int, length: int, wanted: int) -> list[int]:
    """Return some positions in a block of items, drawn by the campaign's seed."""
    drawn = sorted(range(length), key=lambda place: seeded(seed, "gold", surrogate_id, begin, place))
    return sorted(begin + place for place in drawn[:wanted])


def _replaced(place: Participation, policy: Policy, now: datetime) -> list[int]:
    """Return the positions of exposures that replace those without a check, and mark the latter as replaced.

    Items skipped as offensive are replaced a few times, without consequences for the annotator.
    """
    mine = Injection.objects.filter(campaign=place.campaign, surrogate_id=place.surrogate_id)
    own = Assignment.objects.filter(slot=OuterRef("slot"), surrogate_id=place.surrogate_id, state__in=BLOCKING)
    passed, upset = own.exclude(skip_reason="offensive"), own.filter(skip_reason="offensive")
    checks = GoldCheck.objects.filter(campaign=place.campaign, surrogate_id=place.surrogate_id)
    checked = checks.filter(annotation__assignment__slot=OuterRef("slot"))
    gone = Q(slot__state=SlotState.ASIDE) & Exists(passed) | Q(slot__state=SlotState.CLOSED)  # passed, or retired
    lost = mine.filter(gone, ~Exists(checked), is_replaced=False).order_by("pk")
    pks = list(lost.values_list("pk", flat=True))
    left = MOST_UPSETTING - mine.filter(Exists(upset), is_replaced=True).count()
    pks += mine.filter(Exists(upset), is_replaced=False).order_by("pk").values_list("pk", flat=True)[: max(0, left)]
    if pks:
        mine.filter(pk__in=pks).update(is_replaced=True)
        _pause_if_unchecked(place, policy, mine.filter(Exists(passed), is_replaced=True).count(), now)
    # One after another, not all at once: where many lie together, their place would tell what they are.
    return [
        place.served
        + number * REPLACE_WITHIN
        + seeded(place.campaign.seed, "again", place.surrogate_id, pk) % REPLACE_WITHIN
        for number, pk in enumerate(pks)
    ]


def _pause_if_unchecked(place: Participation, policy: Policy, passed: int, now: datetime) -> None:
    """Pause an annotator who passed more gold checks than they took since a manager's last review of this."""
    campaign, surrogate_id = place.campaign, place.surrogate_id
    # What was answered, looked at yet or not: a HIT that is not submitted and a burst wait for that.
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id, slot__injection__isnull=False)
    taken = own.values("slot").distinct().count()  # an answer that was opened again is one check
    looked_at = Review.objects.filter(campaign=campaign, surrogate_id=surrogate_id, evidence__has_key="passed")
    last = looked_at.order_by("-pk").values_list("evidence", flat=True).first() or {"passed": 0, "checks": 0}
    if last["passed"] > passed:  # they left and came back: what was counted before is gone
        last = {"passed": 0, "checks": 0}
    lately, lately_taken = passed - last["passed"], taken - min(taken, last["checks"])
    if lately < MOST_PASSED or lately <= lately_taken or place.standing not in (Standing.ACTIVE, Standing.WARNED):
        return
    person_pause(
        campaign=campaign,
        policy=policy,
        surrogate_id=surrogate_id,
        now=now,
        evidence={"passed": passed, "checks": taken},
    )


def _mint(campaign: Campaign, policy: Policy, surrogate_id: UUID, position: int) -> None:
    """Create an exposure of the gold key shown least often among those this person hasn't met.

    No key is locked for this: a conditional update takes the exposure, and is tried again if another annotator was
    faster, so this person isn't checked less.
    """
    met = Assignment.objects.filter(surrogate_id=surrogate_id, item=OuterRef("item"))
    planned = Injection.objects.filter(surrogate_id=surrogate_id, slot__item=OuterRef("item"))
    keys = _keys(campaign.pk).filter(~Exists(met), ~Exists(planned), exposures__lt=policy.gold_most_exposures)
    for _attempt in range(MOST_ATTEMPTS):
        least = list(keys.order_by("exposures", "pk")[:8])
        for key in sorted(least, key=lambda key: (key.exposures, seeded(campaign.seed, "key", surrogate_id, key.pk))):
            taken = GoldKey.objects.filter(pk=key.pk, exposures=key.exposures).update(exposures=F("exposures") + 1)
            if taken:
                _expose(campaign, key, surrogate_id, position)
                return
        if not least:
            return


def _expose(campaign: Campaign, key: GoldKey, surrogate_id: UUID, position: int) -> None:
    slot = Slot.objects.create(
        campaign=campaign, item_id=key.item_id, round=1, index=key.exposures, order_key=0, state=SlotState.ASIDE
    )
    Injection.objects.create(campaign=campaign, surrogate_id=surrogate_id, slot=slot, position=position)
