"""Gold checks: keys come in, exposures are minted one at a time, answers are compared.

Nothing here is ever called by the annotator's pages; they serve what `annotation` holds as injections.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef

from accounts.audit import record
from accounts.transactions import require_transaction
from annotation.locks import campaign_lock
from annotation.models import (
    Annotation,
    AnnotationState,
    Assignment,
    Batch,
    BatchState,
    Campaign,
    Injection,
    Item,
    Participation,
    Purpose,
    Slot,
    SlotState,
)
from annotation.models import Split as SplitRow
from annotation.ordering import new_example_id, seeded
from annotation.services.item_checks import identity_sha256
from annotation.tasktypes.base import NewItem, RowError
from annotation.tasktypes.registry import TASK_TYPES, voted
from quality.models import GoldCheck, GoldKey, GoldPlan
from quality.rules.policy import Policy
from quality.selectors.policies import policy_current
from quality.services.policies import policy_ensure

GOLD_SPLIT = "gold_keys"
PLAN_AHEAD = 10  # submissions
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
    drawn by the campaign's seed.
    """
    require_transaction()
    if not GoldKey.objects.filter(campaign=campaign, is_active=True).exists():
        return
    own = {"campaign": campaign, "surrogate__in": surrogate_ids}
    planned = dict(GoldPlan.objects.filter(**own).values_list("surrogate_id", "planned_to"))
    places = Participation.objects.filter(**own).order_by("pk").values_list("surrogate_id", "submitted")
    for surrogate_id, submitted in places:
        begin = planned.get(surrogate_id, 0)
        end = _plan_ahead(campaign, policy, surrogate_id, begin, submitted + PLAN_AHEAD)
        if end > begin:
            GoldPlan.objects.update_or_create(
                campaign=campaign, surrogate_id=surrogate_id, defaults={"planned_to": end}
            )


def _plan_ahead(campaign: Campaign, policy: Policy, surrogate_id: UUID, begin: int, wanted: int) -> int:
    """Mint exposures block by block from where a plan ends to where it should; return where it ends now."""
    while begin < wanted:
        for position in _places(campaign.seed, policy, surrogate_id, begin):
            _mint(campaign, policy, surrogate_id, position)
        begin += _block(policy, begin)
    return begin


def _block(policy: Policy, begin: int) -> int:
    """Return how many submissions the block that begins here spans."""
    if begin == 0 and policy.gold_first_items:
        return policy.gold_first_items
    return round(1 / policy.gold_rate) if policy.gold_rate else 1_000


def _places(seed: int, policy: Policy, surrogate_id: UUID, begin: int) -> list[int]:
    """Return where in a block the exposures lie."""
    length = _block(policy, begin)
    first = begin == 0 and policy.gold_first_items
    wanted = policy.gold_first if first else min(1, round(policy.gold_rate * length))
    drawn = sorted(range(length), key=lambda place: seeded(seed, "gold", surrogate_id, begin, place))
    return sorted(begin + place for place in drawn[:wanted])


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
