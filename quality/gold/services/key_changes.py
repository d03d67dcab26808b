"""Changes of gold keys: experts confirm them, managers correct and retire them, and wrong ones are reassessed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.audit import record
from annotation.items.services.items import item_retire
from annotation.models import Item
from annotation.people.services.standing import injections_unscheduled
from annotation.slots.services.counting import item_slots_close
from annotation.slots.services.participation_locks import people_lock
from annotation.tasktypes.base import Said
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction
from documents.selectors import tokenization_of
from quality.experts.services.cases import case_end, case_open, experts_check
from quality.models import PENDING, CaseReason, CaseState, GoldCheck, GoldKey, GoldKeyState
from quality.people.services.pauses import person_assess
from quality.policies.services import policy_ensure
from storage.tables.faults import RowError
from web.errors import KeyedError


class KeyRefused(KeyedError):
    """A gold key cannot be changed as requested."""


def key_judged(*, key: GoldKey, said: Said, now: datetime) -> None:
    """Activate a gold key if the experts confirm it; otherwise it awaits a manager, and isn't used for checks."""
    require_transaction()
    confirms = TASK_TYPES[key.campaign.task_type].confirms(key.accepted, said)
    if confirms:
        GoldKey.objects.filter(pk=key.pk, state=GoldKeyState.WAITING).update(state=GoldKeyState.ACTIVE)
        GoldKey.objects.filter(pk=key.pk).update(confirmed_at=now)
        injections_unscheduled(campaign=key.campaign)
    else:
        GoldKey.objects.filter(pk=key.pk, state=GoldKeyState.ACTIVE).update(state=GoldKeyState.WAITING)
    action = "gold_key_confirm" if confirms else "gold_key_doubt"
    record(action=action, subject=key, now=now, actor_id=None, scope_id=key.campaign_id)


@durable
def gold_key_ask(*, key: GoldKey, experts: int, actor_id: UUID, now: datetime) -> bool:
    """Have experts judge a gold key, which isn't used for checks meanwhile; return whether the case is new.

    Raises
    ------
    KeyRefused
        The key is retired.
    """
    _check_in_use(key)
    experts_check(experts)
    parts = TASK_TYPES[key.campaign.task_type].parts_of_key(key.accepted)
    opened = case_open(item=key.item, because=CaseReason.GOLD, experts=experts, parts=parts, actor_id=actor_id, now=now)
    if opened:
        GoldKey.objects.filter(pk=key.pk, state=GoldKeyState.ACTIVE).update(state=GoldKeyState.WAITING)
        item_slots_close(
            item=key.item, only_aside=True
        )  # exposures that were planned ahead are replaced by those of other keys
    return opened


@durable
def gold_key_edit(*, key: GoldKey, accepted: Any, actor_id: UUID, now: datetime) -> int:
    """Change a key's accepted answers, and compare earlier answers again; return how many check results changed.

    Pending expert cases about the previous accepted answers are withdrawn.

    People who were checked with the key are assessed again. A manager decides about the consequences of earlier pauses.

    Raises
    ------
    KeyRefused
        The answers can't be accepted answers, or the key is retired; the message gives the reason.
    """
    _check_in_use(key)
    task_type = TASK_TYPES[key.campaign.task_type]
    try:
        wanted = task_type.accepted_from({"accepted": accepted}, tokenization_of(key.item.tokenization))
    except RowError as error:
        raise KeyRefused.of(error) from error
    people_lock(campaign_id=key.campaign_id, surrogate_ids=_people(key))
    held = GoldKey.objects.select_for_update(of=("self",), no_key=True).get(pk=key.pk)
    before = held.accepted
    if wanted == before:  # saved without a change: what experts confirmed stays confirmed
        return 0
    GoldKey.objects.filter(pk=key.pk).update(accepted=wanted, confirmed_at=None)
    cases_recall(key.item, now)
    changed = 0
    for check in GoldCheck.objects.filter(key=key).select_related("annotation").order_by("pk"):
        missed = task_type.missed(wanted, check.annotation.answer)
        changed += check.is_hit == bool(missed)
        GoldCheck.objects.filter(pk=check.pk).update(is_hit=not missed, missed_at=missed)
    record(
        action="gold_key_edit",
        subject=key,
        now=now,
        actor_id=actor_id,
        scope_id=key.campaign_id,
        before=before,
        after=wanted,
        changed=changed,
    )
    _assess_again(key, now)
    return changed


@durable
def gold_key_retire(*, key: GoldKey, reason: str, is_wrong: bool, actor_id: UUID, now: datetime) -> int:
    """Stop checking people with a gold key; return the number of checks voided because the key was wrong.

    Raises
    ------
    KeyRefused
        It is retired already.
    """
    people_lock(campaign_id=key.campaign_id, surrogate_ids=_people(key))
    retired = GoldKey.objects.filter(pk=key.pk).exclude(state=GoldKeyState.RETIRED)
    if not retired.update(state=GoldKeyState.RETIRED, retired_reason=reason[:300]):
        raise KeyRefused("key_retired")
    cases_recall(key.item, now)
    item_retire(item=key.item, reason=reason, actor_id=actor_id, now=now)
    void = GoldCheck.objects.filter(key=key, is_void=False).update(is_void=True) if is_wrong else 0
    record(
        action="gold_key_retire",
        subject=key,
        now=now,
        actor_id=actor_id,
        scope_id=key.campaign_id,
        reason=reason,
        void=void,
    )
    if is_wrong:
        _assess_again(key, now)
    return void


def _check_in_use(key: GoldKey) -> None:
    if key.state == GoldKeyState.RETIRED:
        raise KeyRefused("key_retired")


def cases_recall(item: Item, now: datetime) -> None:
    """Recall an item's pending expert cases, because the question to the experts has changed."""
    for case in item.cases.filter(state__in=PENDING):
        case_end(case=case, to=CaseState.RECALLED, now=now)


def _people(key: GoldKey) -> list[UUID]:
    return list(GoldCheck.objects.filter(key=key).values_list("surrogate_id", flat=True))


def _assess_again(key: GoldKey, now: datetime) -> None:
    _, policy = policy_ensure(campaign=key.campaign, now=now)
    for surrogate_id in sorted(set(_people(key))):
        person_assess(campaign=key.campaign, policy=policy, surrogate_id=surrogate_id, now=now)
