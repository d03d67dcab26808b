"""Verdicts: where an item stands is computed from what is stored, and written down when it changed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.audit import record
from accounts.transactions import require_transaction
from annotation.models import ORDINARY, Annotation, AnnotationState, Item, ItemState
from annotation.services.queue import queue_rewind
from annotation.services.slots import round_close, round_open
from annotation.tasktypes.registry import voted
from quality.models import Case, CaseState, Inspection, Opinion, PolicyVersion, Verdict
from quality.rules.policy import Policy, policy_from
from quality.rules.process import Stage, Standing, Vote, standing


def votes_of(item: Item, round_: int) -> list[Vote]:
    """Return the counted votes of a round in the order of their slots; more annotations than that are no votes."""
    counted = Annotation.objects.filter(item=item, state=AnnotationState.COUNTED)
    rows = counted.filter(slot__round=round_, slot__index__lt=item.votes).order_by("slot__index", "pk")
    vote_key = voted(item.campaign.task_type).vote_key
    return [Vote(row.pk, vote_key(row.answer)) for row in rows]


def item_standing(item: Item, policy: Policy) -> tuple[Standing, Opinion | None]:
    """Return where an item stands by what is stored, and the expert's opinion if there is one."""
    opinion = Opinion.objects.filter(case__item=item).order_by("-pk").first()
    first, second = votes_of(item, 1), votes_of(item, 2)
    label = opinion.label if opinion else None
    return standing(first, second, label, needed=item.votes, rule=policy.second_round), opinion


@dataclass(frozen=True, slots=True)
class Judged:
    """What judging an item came to: its stage, and where in the queue a second round put new slots, if it did."""

    stage: Stage
    rewind_to: int | None = None


def items_lock(item_ids: Iterable[int]) -> list[Item]:
    """Lock items in one order, so that two who judge them write one verdict each."""
    require_transaction()
    rows = Item.objects.select_for_update(of=("self",), no_key=True).select_related("campaign", "batch")
    return list(rows.filter(pk__in=set(item_ids)).order_by("pk"))


def item_judge(*, item: Item, version: PolicyVersion, policy: Policy, now: datetime) -> Stage:
    """Judge one item (see `item_judge_locked`); its lock and what follows are taken here."""
    [held] = items_lock([item.pk])
    judged = item_judge_locked(item=held, version=version, policy=policy, now=now)
    if judged.rewind_to is not None:
        queue_rewind(campaign=held.campaign, order_key=judged.rewind_to)
    return judged.stage


def item_judge_locked(*, item: Item, version: PolicyVersion, policy: Policy, now: datetime) -> Judged:
    """Bring verdict, second round and case of a locked item to what its votes come to."""
    require_transaction()
    if item.state != ItemState.ACTIVE or item.batch.purpose not in ORDINARY:
        return Judged(Stage.DONE)
    found, opinion = item_standing(item, policy)
    _verdict_write(item, found, opinion, version, now)
    rewind_to = None
    if found.stage is Stage.SECOND:
        rewind_to = round_open(item=item, round_=2)
    else:
        round_close(item=item, round_=2)
    if found.stage is Stage.EXPERT:
        _case_open(item, now)
    else:
        _case_end(item, CaseState.RECALLED if found.rule != "expert" else CaseState.DECIDED, now)
    return Judged(found.stage, rewind_to)


def _verdict_write(item: Item, found: Standing, opinion: Opinion | None, version: PolicyVersion, now: datetime) -> None:
    current = Verdict.objects.filter(item=item, superseded_at=None).first()
    if current is not None and _is_same(current, found):
        return
    if current is not None:
        Verdict.objects.filter(pk=current.pk).update(superseded_at=now)
        record(action="verdict_supersede", subject=current, now=now, actor_id=None, scope_id=item.campaign_id)
    if found.stage is Stage.DONE:
        verdict = Verdict.objects.create(
            campaign_id=item.campaign_id, item=item, label=found.label, rule=found.rule, policy=version,
            opinion=opinion if found.rule == "expert" else None, decided_at=now,
        )  # fmt: skip
        verdict.annotations.set(found.inputs)


def _is_same(current: Verdict, found: Standing) -> bool:
    if found.stage is not Stage.DONE or (current.label, current.rule) != (found.label, found.rule):
        return False
    return set(current.annotations.values_list("pk", flat=True)) == set(found.inputs)


def _case_open(item: Item, now: datetime) -> None:
    case, opened = Case.objects.get_or_create(
        item=item, state=CaseState.OPEN, defaults={"campaign_id": item.campaign_id, "opened_at": now}
    )
    if opened:
        record(action="case_open", subject=case, now=now, actor_id=None, scope_id=item.campaign_id)
        undecided = Annotation.objects.filter(item=item, state=AnnotationState.COUNTED, inspection=None).values_list(
            "pk", flat=True
        )
        Inspection.objects.bulk_create(
            [Inspection(campaign_id=item.campaign_id, annotation_id=pk, because="no_agreement") for pk in undecided],
            ignore_conflicts=True,
        )


def _case_end(item: Item, state: CaseState, now: datetime) -> None:
    for case in Case.objects.filter(item=item, state=CaseState.OPEN):
        Case.objects.filter(pk=case.pk, state=CaseState.OPEN).update(state=state, closed_at=now)
        record(action=f"case_{state}", subject=case, now=now, actor_id=None, scope_id=item.campaign_id)


def verdict_recompute(verdict: Verdict) -> Any:
    """Return the label that the annotations a verdict names come to under the policy it names."""
    policy = policy_from(verdict.policy.data)
    vote_key = voted(verdict.item.campaign.task_type).vote_key
    rows = verdict.annotations.select_related("slot").order_by("slot__round", "slot__index", "pk")
    votes: dict[int, list[Vote]] = {1: [], 2: []}
    for row in rows:
        if row.slot is not None:
            votes[row.slot.round].append(Vote(row.pk, vote_key(row.answer)))
    opinion = verdict.opinion.label if verdict.opinion else None
    return standing(votes[1], votes[2], opinion, needed=len(votes[1]), rule=policy.second_round).label
