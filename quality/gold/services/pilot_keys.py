"""Gold keys from a pilot: items become keys if all their annotators agree."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Annotation, AnnotationState, Batch, Campaign, Item, ItemState, Purpose, Slot, SlotState
from annotation.models import Split as SplitRow
from annotation.slots.services.counting import round_slots_close
from annotation.tasktypes.registry import TASK_TYPES
from jobs.work import Work
from quality.experts.services.cases import experts_check
from quality.gold.services.key_changes import cases_recall
from quality.gold.services.keys import gold_place, key_create
from quality.labels.services.verdicts import items_lock
from quality.policies.services import policy_ensure

CHUNK = 50
LEAST = 2  # people who agree


def pilot_keys(*, work: Work, campaign: Campaign, experts: int) -> dict[str, Any]:
    """Make keys of the answered pilot items with equal answers; return the number of keys, and of items that differ.

    With ``experts``, a key is used only after that many experts confirm it, since people who agree can be wrong.
    People who answered an item in the pilot never meet it as a key. An item that becomes a key leaves the pilot.
    """
    if experts:
        experts_check(experts)
    policy_ensure(campaign=campaign, now=timezone.now())
    found: dict[str, Any] = {name: int(work.job.result.get(name, 0)) for name in ("keys", "differ", "last")}
    while True:
        with work.step(**found):
            campaign_lock(campaign)
            pks = list(
                _answered(campaign).filter(pk__gt=found["last"]).order_by("pk").values_list("pk", flat=True)[:CHUNK]
            )
            place = gold_place(campaign=campaign, now=timezone.now())
            for item in items_lock(pks):
                is_key = _key_make(item, campaign, place, experts, work.job.requested_by_id, timezone.now())
                found["keys"] += is_key
                found["differ"] += not is_key
            found["last"] = pks[-1] if pks else found["last"]
            work.checkpoint(**found)
        if not pks:
            return found


def _answered(campaign: Campaign) -> Any:
    """Return the answered pilot items that nobody is working on."""
    unfinished = Slot.objects.filter(item=OuterRef("pk")).exclude(state__in=[SlotState.FILLED, SlotState.CLOSED])
    filled = Slot.objects.filter(item=OuterRef("pk"), state=SlotState.FILLED)
    items = Item.objects.filter(campaign=campaign, batch__purpose=Purpose.PILOT, state=ItemState.ACTIVE)
    # What everybody could read about in the campaign's answers to questions is known to all.
    return items.filter(Exists(filled), ~Exists(unfinished), faq=None)


def _key_make(
    item: Item, campaign: Campaign, place: tuple[Batch, SplitRow], experts: int, actor_id: UUID | None, now: datetime
) -> bool:
    """Make an item a gold key, unless its answers differ or are too few."""
    counted = Annotation.objects.filter(item=item, state=AnnotationState.COUNTED).order_by("pk")
    answers = list(counted.values_list("answer", flat=True))
    accepted = TASK_TYPES[campaign.task_type].agreed_on(answers) if len(answers) >= LEAST else None
    if accepted is None:
        return False
    batch, split = place
    Item.objects.filter(pk=item.pk).update(batch=batch, split=split)
    round_slots_close(item=item, round_=1)  # should an answer of the pilot go, nobody gets its place
    cases_recall(item, now)
    # Exposures are numbered as slots of the item are: those of the pilot come first.
    shown = Slot.objects.filter(item=item).count()
    key = key_create(item=item, accepted=accepted, experts=experts, actor_id=actor_id, now=now, exposures=shown)
    record(action="gold_key_of_pilot", subject=key, now=now, actor_id=actor_id, scope_id=campaign.pk)
    return True
