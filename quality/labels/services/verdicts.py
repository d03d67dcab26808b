"""Verdicts: the standing of an item is computed from stored data, and each change is written down."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from accounts.audit import record
from annotation.campaigns.selectors.sealing import is_sealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Item, ItemState
from annotation.slots.services.queue import queue_rewind
from annotation.slots.services.slots import round_close, round_open, rounds_wanted
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import require_transaction
from jobs.events import events_add
from quality.experts.services.cases import case_end, case_open, parts_of
from quality.labels.selectors.verdicts import ItemStanding, standings_of
from quality.labels.ties_and_rounds import Stage
from quality.models import PENDING, Case, CaseReason, CaseState, Inspection, PolicyVersion, Verdict
from quality.policies.policy import Policy, Process


def items_lock(item_ids: Iterable[int]) -> list[Item]:
    """Lock items in a fixed order, so that concurrent jobs write only one verdict per item."""
    require_transaction()
    rows = Item.objects.select_for_update(of=("self",), no_key=True).select_related("campaign", "batch")
    return list(rows.filter(pk__in=set(item_ids)).order_by("pk"))


def items_judge(*, items: Sequence[Item], version: PolicyVersion, policy: Policy, now: datetime) -> None:
    """Update verdicts, second rounds and cases of locked items of one campaign to match their votes.

    Without voting, all annotations are kept side by side, and nothing is done. New slots of a second round rewind the
    queue, which locks the campaign's row, so nothing may be locked after this call.
    """
    require_transaction()
    judged = [item for item in items if item.state == ItemState.ACTIVE and item.batch.purpose in ORDINARY]
    if not judged or not isinstance(TASK_TYPES[judged[0].campaign.task_type], Voted):
        return
    standings = standings_of(judged, policy)
    _verdicts_write([(item, standings[item.pk]) for item in judged], version, now)
    wanted = rounds_wanted(items=judged, round_=2)
    cases = {row.item_id: row for row in Case.objects.filter(item__in=judged, state__in=PENDING)}
    rewinds = []
    for item in judged:
        found = standings[item.pk].found
        if found.stage is Stage.SECOND:
            rewinds.append(round_open(item=item, round_=2))
        elif item.pk in wanted and policy.process is not Process.TARGET:  # whose waves open slots by themselves
            round_close(item=item, round_=2)
        if found.stage is Stage.EXPERT:
            _case_open(item, policy, now)
        elif item.pk in cases and _is_void(cases[item.pk], found.stage, policy):
            case_end(case=cases[item.pk], to=CaseState.RECALLED, now=now)
    places = [place for place in rewinds if place is not None]
    if places:
        queue_rewind(campaign=judged[0].campaign, order_key=min(places))


def _is_void(case: Case, stage: Stage, policy: Policy) -> bool:
    """Return whether the reason for an expert case no longer holds, given that the votes need no expert now."""
    if case.because == CaseReason.DOUBT:
        return stage is Stage.FIRST or policy.process is not Process.TARGET
    return case.because == CaseReason.NO_AGREEMENT


def _verdicts_write(judged: Sequence[tuple[Item, ItemStanding]], version: PolicyVersion, now: datetime) -> None:
    """Supersede outdated verdicts, and write the new ones with the votes that they name."""
    changed = [(item, stands) for item, stands in judged if not stands.is_written]
    for item, stands in changed:
        if stands.verdict is not None:
            Verdict.objects.filter(pk=stands.verdict.pk).update(superseded_at=now)
            record(
                action="verdict_supersede", subject=stands.verdict, now=now, actor_id=None, scope_id=item.campaign_id
            )
    decided = [(item, stands) for item, stands in changed if stands.found.stage is Stage.DONE]
    verdicts = Verdict.objects.bulk_create(
        Verdict(
            campaign_id=item.campaign_id,
            item=item,
            label=stands.found.label,
            rule=stands.found.rule,
            policy=version,
            opinion=stands.opinion if stands.found.rule == "expert" else None,
            decided_at=now,
        )
        for item, stands in decided
    )
    _labeled_tell([item for item, _ in decided], now)
    names = Verdict.annotations.through
    names.objects.bulk_create(
        names(verdict_id=verdict.pk, annotation_id=annotation_id)
        for verdict, (_, stands) in zip(verdicts, decided, strict=True)
        for annotation_id in stands.found.inputs
    )


def _labeled_tell(items: Sequence[Item], now: datetime) -> None:
    """Tell programs which items have labels; nothing of sealed splits, and never which labels."""
    sealed = Item.objects.filter(pk__in=[item.pk for item in items], split__sealed_at__isnull=False)
    closed = set(sealed.values_list("pk", flat=True)) if items else set()
    rows = [{"item": item.pk, "external_id": item.external_id} for item in items if item.pk not in closed]
    if rows:
        events_add(kind="item.labeled", scope_id=items[0].campaign_id, now=now, rows=rows)


def _case_open(item: Item, policy: Policy, now: datetime) -> None:
    opened = case_open(
        item=item, because=CaseReason.NO_AGREEMENT, experts=policy.experts, parts=parts_of(item), actor_id=None, now=now
    )
    if opened and not is_sealed(item):
        undecided = Annotation.objects.filter(item=item, state=AnnotationState.COUNTED, inspection=None).values_list(
            "pk", flat=True
        )
        Inspection.objects.bulk_create(
            [Inspection(campaign_id=item.campaign_id, annotation_id=pk, because="no_agreement") for pk in undecided],
            ignore_conflicts=True,
        )
