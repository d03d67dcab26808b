"""Systems in human terms, in a campaign: their answers to a random sample of questions are judged, then scores corrected."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit import record
from annotation.items.services.items import ImportRefused, items_import
from annotation.locks import campaign_lock
from annotation.models import ORDINARY, Campaign, Item
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Judging, TaskType
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable
from evaluation.models import JudgedSystem, SystemSample
from evaluation.rectified.uploads import SystemsRefused, Uploaded, item_of, read_answers, refuse_difference
from jobs.models import Job
from jobs.work import RetryLater, Work
from measures.rectified import LEAST
from storage.tables.reading import Row

MOST_SYSTEMS = 200  # of a campaign


def systems_import(
    *, work: Work, campaign: Campaign, rows: Iterable[Row], count: int, notes: Callable[[], list[str]] = list
) -> dict[str, Any]:
    """Add systems, and import their answers to the sampled questions as items, each distinct answer once.

    The first upload draws the sample of ``count`` questions; later ones have the same questions. Repeating an upload
    changes nothing.

    Raises
    ------
    SystemsRefused
        The table can't be used, a system of that name has other answers, or a question has another text than before.
    RetryLater
        Another upload drew the sample meanwhile.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Judging):
        raise SystemsRefused(f"in this campaign, nobody judges answers: its task type is {task_type.title}")
    uploaded = read_answers(task_type, rows)
    sample = SystemSample.objects.filter(campaign=campaign).first()
    if sample is None:
        questions = list(uploaded.questions)
        sample = SystemSample(campaign=campaign, questions=questions, judged=_drawn(campaign, questions, count))
        sample.drawn_in = work.job.pk
    for system, answers in uploaded.answers.items():
        refuse_difference(system, answers, sample.questions)
    coming, systems = _judged(task_type, uploaded, sample)
    new = _new(campaign, systems)
    _refuse_pilots(campaign, systems)
    _items_import(work, campaign, coming, dry_run=True)
    with work.step():
        campaign_lock(campaign)
        _sample_keep(sample, work.job.requested_by_id, timezone.now())
    imported = _items_import(work, campaign, coming)
    with work.step():
        campaign_lock(campaign)
        _systems_add(_new(campaign, new), sample, work.job, timezone.now())
    return {**imported, "systems": len(new), "questions": len(sample.judged), "notes": notes()}


def _items_import(
    work: Work, campaign: Campaign, rows: Sequence[dict[str, Any]], *, dry_run: bool = False
) -> dict[str, Any]:
    """Import answers as items; tell a refusal by the question, because the file has other rows."""
    try:
        return items_import(
            work=work,
            campaign=campaign,
            rows=enumerate(rows, 1),
            pilot=False,
            good_rows_only=False,
            dry_run=dry_run,
        )
    except ImportRefused as error:
        first = work.job.result["errors"][0]
        question_id = rows[first["row"] - 1]["question_id"]
        raise SystemsRefused(f"question {question_id!r}, {first['column']}: {first['error']}") from error


def _refuse_pilots(campaign: Campaign, systems: Sequence[JudgedSystem]) -> None:
    """Refuse answers that are in a pilot, for example, and therefore get no label."""
    named = {item for system in systems for item in system.items if item}
    others = Item.objects.filter(campaign=campaign).exclude(batch__purpose__in=ORDINARY)
    there = named & set(others.values_list("external_id", flat=True))
    if there:
        raise SystemsRefused(f"the answer {min(there)!r} is in a pilot or a gold question, so it can't be judged here")


def _sample_keep(sample: SystemSample, actor_id: UUID | None, now: datetime) -> None:
    """Store a sample that was drawn; if another upload stored one meanwhile, the job begins again with that one."""
    stored = SystemSample.objects.filter(campaign=sample.campaign_id).first()
    if stored is not None and (stored.questions, stored.judged) != (sample.questions, sample.judged):
        raise RetryLater("another upload drew the questions meanwhile")
    if stored is not None:
        sample.drawn_in = stored.drawn_in
    else:
        sample.drawn_at = now
        sample.save(force_insert=True)
        drawn = "\n".join(sample.questions[place] for place in sample.judged)
        record(
            action="systems_draw",
            subject=sample,
            now=now,
            actor_id=actor_id,
            scope_id=sample.campaign_id,
            questions=len(sample.questions),
            judged=len(sample.judged),
            sha256=hashlib.sha256(drawn.encode()).hexdigest(),
        )


def _judged(
    task_type: TaskType, uploaded: Uploaded, sample: SystemSample
) -> tuple[list[dict[str, Any]], list[JudgedSystem]]:
    """Return the rows of the distinct answers to judge, in the order of the questions, and the systems."""
    asked = [sample.questions[place] for place in sample.judged]
    rows = dict[str, dict[str, Any]]()
    items: dict[str, list[str]] = {system: [] for system in uploaded.answers}
    for question_id in asked:
        found = {system: item_of(task_type, uploaded, system, question_id) for system in uploaded.answers}
        rows |= {item: row for item, row in sorted(found.values(), key=itemgetter(0)) if item}
        for system, (item, _row) in found.items():
            items[system].append(item)
    systems = [
        JudgedSystem(
            campaign_id=sample.campaign_id,
            name=system,
            scores=[uploaded.scores[system][one] for one in sample.questions],
            items=items[system],
        )
        for system in uploaded.answers
    ]
    return list(rows.values()), systems


def _drawn(campaign: Campaign, questions: Sequence[str], count: int) -> list[int]:
    """Return the places of the sampled questions, by a seed that only this server can compute."""
    if len(questions) < LEAST:
        raise SystemsRefused(f"there are {len(questions)} questions; at least {LEAST} are needed")
    digest = salted_hmac("evaluation.systems", str(campaign.pk), algorithm="sha256").digest()
    seed = int.from_bytes(digest[:8])
    order = sorted(range(len(questions)), key=lambda place: seeded(seed, "systems", questions[place]))
    return sorted(order[: max(LEAST, count)])


def _new(campaign: Campaign, systems: Sequence[JudgedSystem]) -> list[JudgedSystem]:
    """Return the systems that aren't there yet.

    Raises
    ------
    SystemsRefused
        A system has the name of another one, or there are too many.
    """
    rows = JudgedSystem.objects.filter(campaign=campaign)
    there = {row.name: row for row in rows.filter(name__in=[system.name for system in systems])}
    for system in systems:
        before = there.get(system.name)
        if before is not None and (before.items, before.scores) != (system.items, system.scores):
            raise SystemsRefused(f"{system.name!r} was uploaded before with other answers or scores; use another name")
        if len(system.name) > JudgedSystem.MOST_NAME:
            raise SystemsRefused(f"a system's name has at most {JudgedSystem.MOST_NAME} characters")
    new = [system for system in systems if system.name not in there]
    if rows.count() + len(new) > MOST_SYSTEMS:
        raise SystemsRefused(f"a campaign compares at most {MOST_SYSTEMS} systems")
    return new


def _systems_add(systems: Sequence[JudgedSystem], sample: SystemSample, job: Job, now: datetime) -> None:
    for system in systems:
        system.added_at, system.added_by_id, system.is_first = now, job.requested_by_id, sample.drawn_in == job.pk
        system.save()
        record(
            action="system_add",
            subject=system,
            now=now,
            actor_id=job.requested_by_id,
            scope_id=sample.campaign_id,
            system=system.name,
        )


@durable
def system_remove(*, system: JudgedSystem, actor_id: UUID, now: datetime) -> None:
    """Remove a system that was uploaded wrongly; the judgments of its answers stay."""
    record(
        action="system_remove",
        subject=system,
        now=now,
        actor_id=actor_id,
        scope_id=system.campaign_id,
        system=system.name,
    )
    system.delete()
