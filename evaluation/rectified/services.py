"""Systems in human terms, in a campaign: their answers to a random sample of questions are judged, then scores corrected."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit import record
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, refresh_request
from annotation.items.services.items import items_import
from annotation.locks import campaign_lock
from annotation.models import Campaign
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Judging, TaskType
from annotation.tasktypes.registry import TASK_TYPES
from evaluation.models import JudgedSystem, SystemSample, SystemScores
from evaluation.rectified.selectors import scores_of, scores_version
from evaluation.rectified.uploads import SystemsRefused, Uploaded, item_of, read_answers, refuse_difference
from jobs.models import Job
from jobs.work import Work
from measures.rectified import LEAST
from storage.tables.reading import Row

KIND, STALE_SECONDS = "evaluation.system_scores", 2
MOST_SYSTEMS = 200  # of a campaign


def systems_import(*, work: Work, campaign: Campaign, rows: Iterable[Row], count: int) -> dict[str, Any]:
    """Add systems, and import their answers to the sampled questions as items, each distinct answer once.

    The first upload draws the sample of ``count`` questions; later ones have the same questions. Repeating an upload
    changes nothing.

    Raises
    ------
    SystemsRefused
        The table can't be used, or a system of that name has other answers.
    annotation.items.services.items.ImportRefused
        An answer can't be an item.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Judging):
        raise SystemsRefused(f"in this campaign, nobody judges answers: its task type is {task_type.title}")
    uploaded = read_answers(task_type, rows)
    sample = SystemSample.objects.filter(campaign=campaign).first()
    if sample is None:
        questions = list(uploaded.questions)
        sample = SystemSample(campaign=campaign, questions=questions, judged=_drawn(campaign, questions, count))
    for system, answers in uploaded.answers.items():
        refuse_difference(system, answers, sample.questions)
    coming, systems = _judged(task_type, uploaded, sample)
    new = _new(campaign, systems)
    with work.step():
        campaign_lock(campaign)
        if not SystemSample.objects.filter(campaign=campaign).exists():
            sample.drawn_at = timezone.now()
            sample.save(force_insert=True)
    imported = items_import(work=work, campaign=campaign, rows=enumerate(coming, 1), pilot=False, good_rows_only=False)
    with work.step():
        campaign_lock(campaign)
        _systems_add(_new(campaign, new), work.job, campaign, timezone.now())
    return {**imported, "systems": len(new), "questions": len(sample.judged)}


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
    there = {row.name: row for row in JudgedSystem.objects.filter(campaign=campaign)}
    for system in systems:
        before = there.get(system.name)
        if before is not None and (before.items, before.scores) != (system.items, system.scores):
            raise SystemsRefused(f"{system.name!r} was uploaded before with other answers or scores; use another name")
        if len(system.name) > JudgedSystem.MOST_NAME:
            raise SystemsRefused(f"a system's name has at most {JudgedSystem.MOST_NAME} characters")
    new = [system for system in systems if system.name not in there]
    if len(there) + len(new) > MOST_SYSTEMS:
        raise SystemsRefused(f"a campaign compares at most {MOST_SYSTEMS} systems")
    return new


def _systems_add(systems: Sequence[JudgedSystem], job: Job, campaign: Campaign, now: datetime) -> None:
    for system in systems:
        system.added_at, system.added_by_id = now, job.requested_by_id
        system.save()
        record(
            action="system_add",
            subject=system,
            now=now,
            actor_id=job.requested_by_id,
            scope_id=campaign.pk,
            system=system.name,
        )


def scores_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Queue a job that computes the scores, if anything changed."""
    return refresh_request(
        kind=KIND,
        kept=SystemScores.objects.all(),
        version=scores_version,
        seconds=STALE_SECONDS,
        campaign=campaign,
        now=now,
    )


def scores_refresh(*, campaign: Campaign, now: datetime) -> None:
    """Compute and store the scores of systems."""
    sealed, version = sealed_names(campaign), scores_version(campaign)
    data = scores_of(campaign) if isinstance(TASK_TYPES[campaign.task_type], Judging) else {}
    numbers_keep(SystemScores, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=data)
