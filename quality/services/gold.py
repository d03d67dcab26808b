"""Gold checks: keys come in, exposures are minted one at a time, answers are compared.

Nothing here is ever called by the annotator's pages; they serve what `annotation` holds as injections.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Subquery
from django.db.models.functions import Coalesce

from accounts.audit import record
from accounts.selectors import is_known
from accounts.transactions import require_transaction
from annotation.locks import campaign_lock
from annotation.models import (
    BLOCKING,
    Annotation,
    AnnotationState,
    Assignment,
    Batch,
    BatchState,
    Campaign,
    CampaignState,
    Injection,
    Item,
    Participation,
    Purpose,
    Slot,
    SlotState,
)
from annotation.models import Split as SplitRow
from annotation.ordering import new_example_id, seeded
from annotation.services.counting import people_lock
from annotation.services.item_checks import identity_sha256
from annotation.tasktypes.base import NewItem, RowError
from annotation.tasktypes.registry import TASK_TYPES, voted
from quality.models import GoldCheck, GoldKey, GoldPlan
from quality.rules.policy import Policy
from quality.selectors.policies import policy_current
from quality.services.policies import policy_ensure

GOLD_SPLIT = "gold_keys"
AHEAD = 10  # items
AHEAD_OF_UNKNOWN = 2  # what is minted for a visit that does not go on is lost
REPLACE_WITHIN = 8  # items
MOST_PLANS = 200  # at once
MOST_ATTEMPTS = 5  # at a key, while others take exposures of the same ones


class GoldRefused(ValueError):
    """Rows of gold keys are wrong; nothing was imported."""


def gold_import(
    *,
    campaign: Campaign,
    rows: Iterable[tuple[int, Mapping[str, Any] | RowError]],
    actor_id: UUID | None,
    now: datetime,
) -> int:
    """Import gold keys: rows of the task type with ``accepted``, the labels that are right. Return how many are new.

    Raises
    ------
    GoldRefused
        A row is wrong; the message names the first. Nothing was imported.
    """
    checked = [_checked(campaign, number, row) for number, row in rows]
    policy_ensure(campaign=campaign, now=now)
    with transaction.atomic():
        campaign_lock(campaign)
        batch, _ = Batch.objects.get_or_create(
            campaign=campaign, purpose=Purpose.GOLD,
            defaults={"ordinal": _next_ordinal(campaign), "state": BatchState.OPEN, "created_at": now},
        )  # fmt: skip
        split, _ = SplitRow.objects.get_or_create(
            campaign=campaign, name=GOLD_SPLIT, defaults={"n": 1, "weight": 0, "position": 1001}
        )
        known = set(Item.objects.filter(campaign=campaign).values_list("content_sha256", flat=True))
        ordinal = Item.objects.filter(campaign=campaign).count()
        made = 0
        for new, accepted in checked:
            if identity_sha256(new) in known:
                continue
            item = Item.objects.create(
                campaign=campaign, batch=batch, split=split, external_id=new.external_id, content=new.content,
                published_id=new_example_id(campaign.seed, new.external_id, ordinal + made), n=1, votes=1, created_at=now,
                content_sha256=identity_sha256(new),
            )  # fmt: skip
            GoldKey.objects.create(campaign=campaign, item=item, accepted=accepted)
            made += 1
        record(action="gold_import", subject=batch, now=now, actor_id=actor_id, scope_id=campaign.pk, keys=made)
    return made


def _next_ordinal(campaign: Campaign) -> int:
    return (Batch.objects.filter(campaign=campaign).aggregate(last=Max("ordinal"))["last"] or 0) + 1


def _checked(campaign: Campaign, number: int, row: Mapping[str, Any] | RowError) -> tuple[NewItem, list[Any]]:
    try:
        if isinstance(row, RowError):
            raise row
        return TASK_TYPES[campaign.task_type].item_from_row(row), _accepted(campaign, row)
    except RowError as error:
        raise GoldRefused(f"row {number}, {error.column}: {error}") from error


def _accepted(campaign: Campaign, row: Mapping[str, Any]) -> list[Any]:
    labels = voted(campaign.task_type).labels
    accepted = row.get("accepted")
    if isinstance(accepted, str):  # a table: labels separated by blanks
        accepted = [int(part) if part.isdecimal() else part for part in accepted.split()]
    if not isinstance(accepted, list) or not accepted or not set(accepted) < set(labels):
        raise RowError(f"expected some of {', '.join(map(str, labels))}, and not all of them", "accepted")
    return accepted


def gold_plan_begin(*, place: Participation, **_: Any) -> None:
    """Plan the first exposures of an annotator who begins."""
    campaign = Campaign.objects.get(pk=place.campaign_id)
    found = policy_current(campaign)
    if found is not None:
        gold_plan(campaign=campaign, policy=found[1], surrogate_ids=[place.surrogate_id])


def gold_plan(*, campaign: Campaign, policy: Policy, surrogate_ids: Collection[UUID]) -> None:
    """Mint exposures until the plans of annotators who take part reach far enough ahead.

    The first items hold more of them; after that each block of ``1 / rate`` items holds one, at a place
    drawn by the campaign's seed. One that passed without a check is replaced soon after: who skips items, or does not
    hand them in, is checked all the same.
    """
    require_transaction()
    if not GoldKey.objects.filter(campaign=campaign, is_active=True).exists():
        return
    own = {"campaign": campaign, "surrogate__in": surrogate_ids}
    planned = dict(GoldPlan.objects.filter(**own).values_list("surrogate_id", "planned_to"))
    places = Participation.objects.filter(**own).annotate(is_known=is_known()).order_by("pk")
    for place in places:
        begin, end = planned.get(place.surrogate_id, 0), place.served + (AHEAD if place.is_known else AHEAD_OF_UNKNOWN)
        if end > begin:
            GoldPlan.objects.update_or_create(
                campaign=campaign, surrogate_id=place.surrogate_id, defaults={"planned_to": end}
            )
        if place.is_known or _may_spend_on_unknown(campaign, policy):
            for position in [
                *_places(campaign.seed, policy, place.surrogate_id, begin, end),
                *_replaced(campaign, place),
            ]:
                _mint(campaign, policy, place.surrogate_id, position)


def gold_plan_due(now: datetime) -> None:
    """Plan for annotators who are about to reach the end of their plans."""
    keys = GoldKey.objects.filter(campaign=OuterRef("campaign"), is_active=True)
    plan = GoldPlan.objects.filter(campaign=OuterRef("campaign"), surrogate=OuterRef("surrogate"))
    planned_to = Coalesce(Subquery(plan.values("planned_to")), 0)
    short = Participation.objects.filter(
        Exists(keys), campaign__state=CampaignState.OPEN, served__gt=planned_to - AHEAD_OF_UNKNOWN
    )
    by_campaign: dict[Campaign, list[UUID]] = {}
    for place in short.select_related("campaign").order_by("campaign", "pk")[:MOST_PLANS]:
        by_campaign.setdefault(place.campaign, []).append(place.surrogate_id)
    for campaign, surrogate_ids in by_campaign.items():
        with transaction.atomic():
            people_lock(campaign_id=campaign.pk, surrogate_ids=surrogate_ids)
            _, policy = policy_ensure(campaign=campaign, now=now)
            gold_plan(campaign=campaign, policy=policy, surrogate_ids=surrogate_ids)


def _may_spend_on_unknown(campaign: Campaign, policy: Policy) -> bool:
    """Return whether visits that nobody vouches for may have more exposures: half of all at most.

    Anybody can invent those; what they use up would be missing for everybody else.
    """
    keys = GoldKey.objects.filter(campaign=campaign, is_active=True).count()
    spent = Injection.objects.filter(~is_known(), campaign=campaign).count()
    return 2 * spent < keys * policy.gold_most_exposures


def _places(seed: int, policy: Policy, surrogate_id: UUID, begin: int, end: int) -> Iterator[int]:
    """Yield where between two places of an annotator's items the exposures lie."""
    first, length = policy.gold_first_items, round(1 / policy.gold_rate) if policy.gold_rate else 0
    if begin < first:
        yield from (place for place in _drawn(seed, surrogate_id, 0, first, policy.gold_first) if begin <= place < end)
    if length:
        # The blocks begin where the first items end.
        for block in range(first + max(0, begin - first) // length * length, end, length):
            yield from (place for place in _drawn(seed, surrogate_id, block, length, 1) if begin <= place < end)


def _drawn(seed: int, surrogate_id: UUID, begin: int, length: int, wanted: int) -> list[int]:
    """Return some places of a block of items, drawn by the campaign's seed."""
    drawn = sorted(range(length), key=lambda place: seeded(seed, "gold", surrogate_id, begin, place))
    return sorted(begin + place for place in drawn[:wanted])


def _replaced(campaign: Campaign, place: Participation) -> list[int]:
    """Return where the exposures lie that replace those that passed without a check, and remember that they do."""
    passed = Assignment.objects.filter(slot=OuterRef("slot"), surrogate_id=place.surrogate_id, state__in=BLOCKING)
    lost = Injection.objects.filter(
        Exists(passed), campaign=campaign, surrogate_id=place.surrogate_id, slot__state=SlotState.ASIDE,
        is_replaced=False,
    )  # fmt: skip
    pks = list(lost.order_by("pk").values_list("pk", flat=True))
    Injection.objects.filter(pk__in=pks).update(is_replaced=True)
    return [place.served + seeded(campaign.seed, "again", place.surrogate_id, pk) % REPLACE_WITHIN for pk in pks]


def _mint(campaign: Campaign, policy: Policy, surrogate_id: UUID, position: int) -> None:
    """Mint one exposure of the key that was shown least and that this person has not met.

    No key is locked to look at it: a conditional update takes the exposure, and another annotator who was quicker is no
    reason for this person to be checked less.
    """
    met = Assignment.objects.filter(surrogate_id=surrogate_id, item=OuterRef("item"))
    planned = Injection.objects.filter(surrogate_id=surrogate_id, slot__item=OuterRef("item"))
    keys = GoldKey.objects.filter(~Exists(met), ~Exists(planned), campaign=campaign, is_active=True).filter(
        exposures__lt=policy.gold_most_exposures
    )
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


def gold_check(*, annotation: Annotation, now: datetime) -> GoldCheck | None:
    """Compare an annotation with its key; None where there is none, or where it does not count."""
    require_transaction()
    key = GoldKey.objects.filter(item_id=annotation.item_id).first()
    if key is None or annotation.state != AnnotationState.COUNTED:
        return None
    vote = voted(annotation.campaign.task_type).vote_key(annotation.answer)
    check, _ = GoldCheck.objects.get_or_create(
        annotation=annotation,
        defaults={
            "key": key, "campaign_id": annotation.campaign_id, "surrogate_id": annotation.surrogate_id,
            "is_hit": vote in key.accepted, "at": now,
        },
    )  # fmt: skip
    return check


def gold_checks_unlink(*, campaign: Campaign, before: UUID, after: UUID, **_: Any) -> None:
    """Move an annotator's checks to the surrogate that their work was moved to, and forget how far they were planned."""
    GoldCheck.objects.filter(campaign=campaign, surrogate_id=before).update(surrogate_id=after)
    GoldPlan.objects.filter(campaign=campaign, surrogate_id=before).delete()
