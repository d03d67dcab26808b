"""Systems as additional annotators: their predictions are uploaded, then mixed into cases of the experts."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit import record
from annotation.campaigns.selectors.sealing import is_sealed
from annotation.locks import campaign_lock
from annotation.models import Campaign, Item, ItemState
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Extractive
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable
from evaluation.models import DrawnItem, PredictedAnswer, PredictedSystem
from evaluation.nq.predictions import predictions_of
from evaluation.payloads import PredictionsSamplePayload
from evaluation.predicted.selectors import items_to_draw
from evaluation.predicted.uploads import Predicted, PredictedError, answers_predicted, confident, items_to_answer
from jobs.models import Job
from jobs.payloads import CampaignPayload
from jobs.services import job_enqueue
from jobs.work import RetryLater, Work
from quality.experts.services.cases import case_open, experts_check, parts_mixed, references_of
from quality.labels.services.audits import cases_recall
from quality.models import PENDING, Case, CaseReason

SAMPLE, RECALL = "evaluation.sample_predictions", "evaluation.recall_cases"
MOST_BYTES = 64 * 2**20
MOST_SYSTEMS = 10  # whose distinct answers to an item an expert can judge at once
ROWS = 500  # of a statement
MOST_SUBJECT = 100  # characters in the log


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
    if not system.strip() or not system.isprintable() or len(system) > PredictedSystem.MOST_NAME:
        raise PredictedError("predicted_name", most=PredictedSystem.MOST_NAME)
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Extractive):
        raise PredictedError("predicted_of_pages")
    digest = hashlib.sha256(f"{least_long} {least_short} ".encode() + content).hexdigest()
    if _is_there(campaign, system, digest):
        return {"predictions": 0}
    predictions = {
        example_id: confident(prediction, least_long, least_short)
        for example_id, prediction in predictions_of(content, file_name).items()
    }
    found = answers_predicted(campaign, task_type, predictions, file_name, work.progress)
    if not predictions:
        raise PredictedError("predicted_empty")
    if not found.answers:
        raise PredictedError("predicted_nothing")
    with work.step():
        now = timezone.now()
        campaign_lock(campaign)
        if not _is_there(campaign, system, digest):
            _system_add(campaign, system, digest, found.answers, work.job.requested_by_id, now)
    return _counts(campaign, task_type, found)


def _counts(campaign: Campaign, task_type: Extractive, found: Predicted) -> dict[str, int]:
    """Return the number of predictions, of answers in them, of items without one, and of what isn't used."""
    answers = found.answers.values()
    return {
        "predictions": len(answers),
        "long": sum(task_type.finds["passage"](answer) is not None for answer in answers),
        "short": sum(task_type.finds["short"](answer) is not None for answer in answers),
        "missing": items_to_answer(campaign).count() - len(answers),
        "others": found.others,
        "unused": found.unused,
    }


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
        subject=name,
        now=now,
        actor_id=actor_id,
        scope_id=campaign.pk,
        system=name,
        answers=len(answers),
        sha256=digest,
    )


@durable
def predictions_remove(*, system: PredictedSystem, actor_id: UUID, now: datetime) -> None:
    """Remove a system that was uploaded wrongly. Its drawn items stay drawn, so that nobody can draw the known ones again.

    A job recalls the cases in which no other system is compared.
    """
    record(
        action="predictions_remove",
        subject=system.name,
        now=now,
        actor_id=actor_id,
        scope_id=system.campaign_id,
        system=system.name,
    )
    campaign_id = system.campaign_id
    system.delete()
    job_enqueue(
        kind=RECALL,
        payload=CampaignPayload(campaign=str(campaign_id)),
        now=now,
        scope_id=campaign_id,
        requested_by_id=actor_id,
    )


def cases_without_system_recall(*, work: Work, campaign: Campaign) -> dict[str, Any]:
    """Recall the pending cases whose systems were all removed."""
    drawn = DrawnItem.objects.filter(campaign=campaign, case__state__in=PENDING)
    orphans = drawn.exclude(Exists(PredictedAnswer.objects.filter(drawn=OuterRef("pk"))))
    cases_recall(work=work, campaign=campaign, cases=Case.objects.filter(pk__in=orphans.values("case")))
    return {}


def sample_request(*, campaign: Campaign, count: int, experts: int, actor_id: UUID, now: datetime) -> Job:
    """Queue a draw, unless one is running: sending a form twice draws once."""
    return job_enqueue(
        kind=SAMPLE,
        payload=PredictionsSamplePayload(campaign=str(campaign.pk), count=count, experts=experts),
        now=now,
        scope_id=campaign.pk,
        requested_by_id=actor_id,
        key=f"{SAMPLE}:{campaign.pk}",
    )


def predictions_sample(*, work: Work, campaign: Campaign, count: int, experts: int) -> dict[str, Any]:
    """Draw random items, and send the answers of all systems to experts, with the answer of one annotator.

    Items are drawn from those that all systems and an annotator answered, by a seed that only this server can compute,
    whatever the answers are: an item without anything to judge is drawn, but no case. The annotator is that of the first
    slot. No item is drawn twice.

    Raises
    ------
    PredictedError
        There are no systems, or too few items; or a drawn item is before the experts for another reason: leaving it out
        would bias the sample.
    RetryLater
        An item or annotation was retired or excluded meanwhile, or a split was sealed.
    """
    experts_check(experts)
    rows = list(PredictedSystem.objects.filter(campaign=campaign).order_by("pk"))
    chosen = work.job.result.get("systems")  # those that are added while it runs aren't part of it
    systems = rows if chosen is None else [row for row in rows if row.pk in chosen]
    if chosen is not None and len(systems) < len(chosen):
        raise PredictedError("predicted_removed")
    if not systems:
        raise PredictedError("predicted_no_system")
    drawn, cases = (int(work.job.result.get(name, 0)) for name in ("drawn", "cases"))
    order = _drawn(campaign, [row.pk for row in systems], count - drawn)
    if len(order) < count - drawn:
        raise PredictedError("predicted_too_few", there=drawn + len(order), asked=count)
    if pending := Case.objects.filter(item__in=order, state__in=PENDING).count():
        raise PredictedError("drawn_before_experts", n=pending)
    for item_id in order:
        with work.step(done=drawn, total=count):
            campaign_lock(campaign)
            if not drawn:
                _record(campaign, systems, count, experts, work.job.requested_by_id)
            cases += _send(campaign, item_id, [row.pk for row in systems], experts, work.job.requested_by_id)
            drawn += 1
            work.checkpoint(drawn=drawn, cases=cases, systems=[row.pk for row in systems])
    return {"drawn": drawn, "cases": cases}


def _record(
    campaign: Campaign, systems: Sequence[PredictedSystem], count: int, experts: int, actor_id: UUID | None
) -> None:
    record(
        action="predictions_draw",
        subject=f"{count} items: {', '.join(row.name for row in systems)}"[:MOST_SUBJECT],
        now=timezone.now(),
        actor_id=actor_id,
        scope_id=campaign.pk,
        systems=[row.name for row in systems],
        count=count,
        experts=experts,
    )


def _drawn(campaign: Campaign, systems: Sequence[int], count: int) -> list[int]:
    """Return the next items in the seeded order that were never drawn."""
    named = items_to_draw(campaign, systems).values_list("pk", "external_id")
    digest = salted_hmac("evaluation.predicted", str(campaign.pk), algorithm="sha256").digest()
    seed = int.from_bytes(digest[:8])
    return [pk for pk, _name in sorted(named, key=lambda row: (seeded(seed, "predicted", row[1]), row[0]))][:count]


def _send(campaign: Campaign, item_id: int, systems: Sequence[int], experts: int, actor_id: UUID | None) -> int:
    """Draw one item and send it to the experts; return the number of cases: none if there is nothing to judge."""
    now = timezone.now()
    item = Item.objects.select_related("campaign", "split").get(pk=item_id)
    rows = PredictedAnswer.objects.filter(system__in=systems, item=item, drawn=None)
    answers, references = list(rows.order_by("system").values_list("answer", flat=True)), references_of([item_id])
    is_open = item.state == ItemState.ACTIVE and not is_sealed(item)
    if not is_open or not references or len(answers) < len(systems):
        raise RetryLater("an item, its annotation, or a system is no longer there")
    parts = parts_mixed(TASK_TYPES[campaign.task_type], references[item_id], answers)
    case = None
    if parts:
        if not case_open(
            item=item, because=CaseReason.SYSTEMS, experts=experts, parts=parts, actor_id=actor_id, now=now
        ):
            raise PredictedError("drawn_before_experts", n=1)
        case = Case.objects.get(item=item, state__in=PENDING)
    last = DrawnItem.objects.filter(campaign=campaign).aggregate(last=Max("place"))["last"] or 0
    rows.update(drawn=DrawnItem.objects.create(campaign=campaign, item=item, place=last + 1, case=case, drawn_at=now))
    return int(case is not None)
