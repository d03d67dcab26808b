"""Open, close and recall experts' cases."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from annotation.campaigns.selectors.sealing import is_sealed
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, Item, ItemState
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Answer, Part, TaskType
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction
from jobs.events import event_add
from jobs.work import Work
from quality.models import PENDING, REFERENCE, Case, CaseReason, CaseState
from web.errors import KeyedError

# What a manager asked for, and can take back.
RECALLABLE = (CaseReason.SAMPLE, CaseReason.SYSTEMS, CaseReason.MANAGER, CaseReason.INSPECTION)
MOST_EXPERTS = 20  # of one case
CHUNK = 200


class CaseError(KeyedError):
    """An item can't be sent to experts, or an expert can't judge it."""


def case_open(
    *, item: Item, because: CaseReason, experts: int, parts: list[Part], actor_id: UUID | None, now: datetime
) -> bool:
    """Send an item to experts, unless it has an open case; return whether the case is new."""
    require_transaction()
    case, opened = Case.objects.get_or_create(
        item=item,
        state__in=PENDING,
        defaults={
            "campaign_id": item.campaign_id,
            "opened_at": now,
            "because": because,
            "experts": experts,
            "parts": parts,
            "state": CaseState.OPEN,
        },
    )
    if opened:
        record(
            action="case_open",
            subject=case,
            now=now,
            actor_id=actor_id,
            scope_id=item.campaign_id,
            because=because,
            experts=experts,
        )
        event_add(kind="case.opened", scope_id=item.campaign_id, now=now, case=case.pk, item=item.pk)
    return opened


def case_end(*, case: Case, to: CaseState, now: datetime, actor_id: UUID | None = None) -> bool:
    """Close a case that was decided or whose reason no longer applies; return whether it was pending."""
    require_transaction()
    ended = bool(Case.objects.filter(pk=case.pk, state__in=PENDING).update(state=to, closed_at=now))
    if ended:
        record(action=f"case_{to}", subject=case, now=now, actor_id=actor_id, scope_id=case.campaign_id)
    return ended


@durable
def case_recall(*, case: Case, actor_id: UUID, now: datetime) -> None:
    """Withdraw a case that a manager requested; existing opinions are kept.

    Raises
    ------
    CaseError
        A rule requested it, or it is decided.
    """
    if case.because not in RECALLABLE or not case_end(case=case, to=CaseState.RECALLED, now=now, actor_id=actor_id):
        raise CaseError("case_not_recallable")


@durable
def case_ask(*, item: Item, because: CaseReason, experts: int, actor_id: UUID, now: datetime) -> bool:
    """Have experts judge every distinct answer to an item; return whether the case is new.

    Raises
    ------
    CaseError
        There is nothing to judge, or the number of experts is invalid.
    """
    experts_check(experts)
    if is_sealed(item):
        raise CaseError("case_sealed")
    parts = parts_of(item)
    if not parts:
        raise CaseError("case_without_answer")
    return case_open(item=item, because=because, experts=experts, parts=parts, actor_id=actor_id, now=now)


def parts_of(item: Item) -> list[Part]:
    """Return the parts of an item for experts to judge: the distinct parts of its counted answers."""
    counted = Annotation.objects.filter(item=item, state=AnnotationState.COUNTED).order_by("slot__index", "pk")
    return TASK_TYPES[item.campaign.task_type].parts(list(counted.values_list("answer", flat=True)))


def cases_sample(
    *, work: Work, campaign: Campaign, count: int, seed: int, experts: int, every_answer: bool, least: int = 1
) -> dict[str, Any]:
    """Draw random items whose reference annotation contains something to judge, and send them to experts.

    The reference annotation is that of an item's first slot, a random one among its annotators: the sample is one of
    (question, page, answer) given that there is an answer (Kwiatkowski et al. 2019, section 4.3). With
    ``every_answer``, experts judge all distinct answers of these items. Items with fewer than ``least`` requested
    annotations are not drawn: a study of 25 annotations needs judgments of items that have them.

    Raises
    ------
    CaseError
        A drawn item already has a case for another reason: leaving it out would bias the sample.
    """
    experts_check(experts)
    opened = int(work.job.result.get("opened", 0))
    task_type = TASK_TYPES[campaign.task_type]
    drawn = list(islice(_drawn(campaign, seed, least), max(count - opened, 0)))
    pending = Case.objects.filter(item__in=[item for item, _reference in drawn], state__in=PENDING).count()
    if pending:  # without them the sample would be one of what nobody doubts
        raise CaseError("drawn_before_experts", n=pending)
    for item, reference in drawn:
        own = task_type.parts([reference])
        parts = parts_of(item) if every_answer else own
        with work.step(done=opened, total=count, opened=opened):
            actor_id, now = work.job.requested_by_id, timezone.now()
            opened += case_open(
                item=item,
                because=CaseReason.SAMPLE,
                experts=experts,
                parts=_marked(parts, own),
                actor_id=actor_id,
                now=now,
            )
            work.checkpoint(opened=opened)
    return {"opened": opened}


def _marked(parts: Sequence[Part], own: Sequence[Part]) -> list[Part]:
    """Return parts, marking those of the reference, so that their results stay even if the annotation changes state."""
    keys = {part["key"] for part in own}
    return [{**part, REFERENCE: True} if part["key"] in keys else part for part in parts]


def parts_mixed(task_type: TaskType, reference: Answer, systems: Sequence[Answer]) -> list[Part]:
    """Return the distinct parts of a reference annotation and of systems' answers, in an order that doesn't tell whose."""
    return _marked(task_type.parts([reference, *systems]), task_type.parts([reference]))


def _drawn(campaign: Campaign, seed: int, least: int) -> Iterator[tuple[Item, Any]]:
    """Yield undrawn items in a seeded order with their reference answers, if these contain something to judge."""
    ids = Item.objects.filter(
        campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY, n__gte=least, split__sealed_at=None
    )
    named = ids.exclude(cases__because=CaseReason.SAMPLE).values_list("pk", "external_id")
    order = [pk for pk, _ in sorted(named, key=lambda row: (seeded(seed, "sample", row[1]), row[0]))]
    parts = TASK_TYPES[campaign.task_type].parts
    for start in range(0, len(order), CHUNK):
        references = references_of(order[start : start + CHUNK])
        items = Item.objects.select_related("campaign").in_bulk(list(references))
        for pk in order[start : start + CHUNK]:
            if pk in references and parts([references[pk]]):
                yield items[pk], references[pk]


def references_of(item_ids: Sequence[int]) -> dict[int, Any]:
    """Return the counted answers of items' first slots."""
    rows = Annotation.objects.filter(item__in=item_ids, state=AnnotationState.COUNTED, slot__round=1, slot__index=0)
    return dict(rows.values_list("item_id", "answer"))


def experts_check(experts: int) -> None:
    """Raise `CaseError` unless that many experts can judge an item."""
    if not 1 <= experts <= MOST_EXPERTS:
        raise CaseError("case_experts", most=MOST_EXPERTS)
