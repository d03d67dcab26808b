"""Systems as additional annotators: their predictions are uploaded, then mixed into cases of the experts."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit import record
from annotation.locks import campaign_lock
from annotation.models import Annotation, AnnotationState, Campaign, Item, ItemState
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Extractive
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable
from evaluation.desk.uploads import answers_predicted, confident
from evaluation.models import PredictedAnswer, PredictedSystem
from evaluation.nq.predictions import predictions_of
from jobs.work import RetryLater, Work
from quality.experts.services.cases import case_open, experts_check, parts_mixed, references_of
from quality.models import PENDING, Case, CaseReason
from web.errors import KeyedError

MOST_BYTES = 64 * 2**20
MOST_ANSWERS = 50_000  # of a system
MOST_SYSTEMS = 10  # whose distinct answers to an item an expert can judge at once
ROWS = 500  # of a statement


class PredictedError(KeyedError):
    """A system's predictions can't be added, or not sent to experts; the message gives the reason."""


def predictions_import(
    *,
    work: Work,
    campaign: Campaign,
    content: bytes,
    file_name: str,
    system: str,
    least_long: float | None = None,
    least_short: float | None = None,
) -> dict[str, Any]:
    """Add a system with its predictions in the official format. The same upload again changes nothing.

    Parameters
    ----------
    least_long, least_short
        The scores from which a long and a short answer count as given; without one, every answer in the file does.

    Raises
    ------
    PredictionFault
        The file can't be used; the message says where and why.
    PredictedError
        No prediction is for an item of the campaign, the name is taken, or there are too many systems or predictions.
    """
    if len(content) > MOST_BYTES:
        raise PredictedError("predicted_too_large", most=MOST_BYTES // 2**20)
    if not system or len(system) > PredictedSystem.MOST_NAME:
        raise PredictedError("predicted_name", most=PredictedSystem.MOST_NAME)
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Extractive):
        raise PredictedError("predicted_of_pages")
    digest = hashlib.sha256(f"{least_long} {least_short} ".encode() + content).hexdigest()
    if _is_there(campaign, system, digest):
        return {"answers": 0}
    predictions = {
        example_id: confident(prediction, least_long, least_short)
        for example_id, prediction in predictions_of(content, file_name).items()
    }
    found = answers_predicted(campaign, task_type, predictions, file_name, work.progress)
    if not found.answers:
        raise PredictedError("predicted_nothing")
    if len(found.answers) > MOST_ANSWERS:
        raise PredictedError("predicted_most_answers", most=MOST_ANSWERS)
    with work.step():
        now = timezone.now()
        campaign_lock(campaign)
        if not _is_there(campaign, system, digest):
            _system_add(campaign, system, digest, found.answers, work.job.requested_by_id, now)
    return {"answers": len(found.answers), "others": found.others, "outside": found.outside}


def _is_there(campaign: Campaign, name: str, digest: str) -> bool:
    """Return whether this upload was added before; refuse another one of its name, and too many systems."""
    there = dict(PredictedSystem.objects.filter(campaign=campaign).values_list("name", "sha256"))
    if there.get(name, digest) != digest:
        raise PredictedError("predicted_name_taken", name=name)
    if name not in there and len(there) >= MOST_SYSTEMS:
        raise PredictedError("predicted_most_systems", most=MOST_SYSTEMS)
    return name in there


def _system_add(
    campaign: Campaign, name: str, digest: str, answers: dict[int, Any], actor_id: UUID | None, now: datetime
) -> None:
    system = PredictedSystem.objects.create(
        campaign=campaign, name=name, sha256=digest, added_at=now, added_by_id=actor_id
    )
    rows = (PredictedAnswer(system=system, item_id=item_id, answer=answer) for item_id, answer in answers.items())
    while some := list(islice(rows, ROWS)):
        PredictedAnswer.objects.bulk_create(some)
    record(
        action="predictions_add",
        subject=system,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        system=name,
        answers=len(answers),
        sha256=digest,
    )


@durable
def predictions_remove(*, system: PredictedSystem, actor_id: UUID, now: datetime) -> None:
    """Remove a system that was uploaded wrongly. Cases with its answers stay: nothing in them tells whose they are."""
    record(
        action="predictions_remove",
        subject=system,
        now=now,
        actor_id=actor_id,
        scope_id=system.campaign_id,
        system=system.name,
    )
    system.delete()


def predictions_sample(*, work: Work, campaign: Campaign, count: int, experts: int) -> dict[str, Any]:
    """Draw random items, and send the answers of all systems to experts, with the answer of one annotator.

    Items are drawn from those that all systems and an annotator answered, by a seed that only this server can compute,
    whatever the answers are: an item without anything to judge is drawn, but no case. The annotator is that of the first
    slot, a random one.

    Raises
    ------
    PredictedError
        There are no systems, or too few items.
    CaseError
        A drawn item is before the experts for another reason: leaving it out would bias the sample.
    RetryLater
        A system was removed meanwhile, or items were drawn by another job.
    """
    experts_check(experts)
    with work.step():
        systems = work.job.result.get("systems") or _begin(work, campaign, count, experts)
    drawn, cases = (int(work.job.result.get(name, 0)) for name in ("drawn", "cases"))
    order = _drawn(campaign, systems, count - drawn)
    if len(order) < count - drawn:
        raise PredictedError("predicted_too_few", there=drawn + len(order), asked=count)
    if pending := Case.objects.filter(item__in=order, state__in=PENDING).count():
        raise PredictedError("drawn_before_experts", n=pending)
    for item_id in order:
        with work.step(done=drawn, total=count):
            campaign_lock(campaign)
            cases += _send(campaign, item_id, systems, experts, work.job.requested_by_id)
            drawn += 1
            work.checkpoint(drawn=drawn, cases=cases)
    return {"drawn": drawn, "cases": cases}


def _begin(work: Work, campaign: Campaign, count: int, experts: int) -> list[int]:
    """Choose the systems of a draw, once: those added while it runs aren't part of it."""
    rows = list(PredictedSystem.objects.filter(campaign=campaign).order_by("pk"))
    if not rows:
        raise PredictedError("predicted_no_system")
    record(
        action="predictions_draw",
        subject=campaign,
        now=timezone.now(),
        actor_id=work.job.requested_by_id,
        scope_id=campaign.pk,
        systems=[row.name for row in rows],
        count=count,
        experts=experts,
    )
    systems = [row.pk for row in rows]
    work.checkpoint(systems=systems)
    return systems


def _drawn(campaign: Campaign, systems: Sequence[int], count: int) -> list[int]:
    """Return the next items in the seeded order that were drawn for none of these systems."""
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, split__sealed_at=None)
    for system in systems:
        answers = PredictedAnswer.objects.filter(system=system, item=OuterRef("pk"), drawn_at=None)
        items = items.filter(Exists(answers))
    counted = Annotation.objects.filter(item=OuterRef("pk"), state=AnnotationState.COUNTED)
    named = items.filter(Exists(counted.filter(slot__round=1, slot__index=0))).values_list("pk", "external_id")
    digest = salted_hmac("evaluation.desk", str(campaign.pk), algorithm="sha256").digest()
    seed = int.from_bytes(digest[:8])
    return [pk for pk, _name in sorted(named, key=lambda row: (seeded(seed, "predicted", row[1]), row[0]))][:count]


def _send(campaign: Campaign, item_id: int, systems: Sequence[int], experts: int, actor_id: UUID | None) -> int:
    """Send one item to the experts, and mark the answers as drawn; return the number of cases: none if all are null."""
    now = timezone.now()
    rows = PredictedAnswer.objects.filter(system__in=systems, item=item_id, drawn_at=None)
    answers = list(rows.order_by("system").values_list("answer", flat=True))
    references = references_of([item_id])
    if len(answers) < len(systems) or not references:
        raise RetryLater("a system or an annotation was removed, or an item was drawn by another job")
    item = Item.objects.select_related("campaign").get(pk=item_id)
    parts = parts_mixed(TASK_TYPES[campaign.task_type], references[item_id], answers)
    case = None
    if parts:
        if not case_open(
            item=item, because=CaseReason.SAMPLE, experts=experts, parts=parts, actor_id=actor_id, now=now
        ):
            raise PredictedError("drawn_before_experts", n=1)
        case = Case.objects.get(item=item, state__in=PENDING)
    rows.update(drawn_at=now, case=case)
    return int(case is not None)
