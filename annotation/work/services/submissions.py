"""How assignments end: an answer is submitted, or the item is skipped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from annotation.models import (
    FILLING,
    INTERNAL,
    Annotation,
    AnnotationState,
    Assignment,
    AssignmentState,
    ItemState,
    Participation,
    Purpose,
    Standing,
)
from annotation.signals import assignment_skipped
from annotation.slots.ordering import new_annotation_id
from annotation.slots.services.claims import Claim, claim_next
from annotation.slots.services.counting import SUSPENDED, annotation_enter, annotations_exclude, slots_release
from annotation.tasktypes.base import AnswerError, Draft, Written
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.assignments import AssignmentOver, HandedInElsewhere, assignment_locked
from annotation.work.services.drafts import draft_advanced, draft_write
from annotation.work.services.events import events_keep, piece_sent
from annotation.work.services.shown import shown_of
from database.statements import Update
from database.transactions import durable
from web.metrics import ANSWERS

SKIP_REASONS = ("offensive", "unclear", "broken", "language", "other")


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of taking an answer: assignment with draft; after the last stage, also annotation and next claim."""

    assignment: Assignment
    annotation: Annotation | None = None
    next: Claim | None = None


@durable
def answer_take(
    *,
    assignment_id: UUID,
    surrogate_id: UUID,
    stage: str,
    sent: Mapping[str, Any],
    version: int,
    now: datetime,
    via: str = INTERNAL,
    is_provisional: bool = False,
    another: bool = True,
) -> Taken:
    """Take the answer to one stage, from any kind of seat; the last stage submits, all in one transaction.

    Taking the last answer again has no further effect and returns the same annotation. A late submission is kept
    and marked; it does not count, because the slot may be another annotator's by now. A provisional one fills its
    slot, but counts only when it is confirmed (`annotation.slots.services.counting.submissions_confirm`). A piece of the
    click log that came with the answer is stored with it.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, HandedInElsewhere, NoSuchAssignment
    """
    assignment, place = assignment_locked(assignment_id, surrogate_id)
    if (piece := piece_sent(sent)) is not None:
        events_keep(assignment, surrogate_id, piece, now)
    annotation = getattr(assignment, "annotation", None)
    if annotation is None:
        draft = draft_advanced(assignment, stage, sent, now)
        if TASK_TYPES[assignment.campaign.task_type].current_stage(draft, assignment.item.content) is not None:
            return Taken(draft_write(assignment, draft, version))
        ending = _Ending(draft, version)
        annotation = _submit(assignment, place, via, ending, is_provisional=is_provisional, now=now)
    elif not _says_the_same(assignment, stage, sent, annotation):
        raise HandedInElsewhere
    return Taken(assignment, annotation, _next(assignment, place, now) if another else None)


def _says_the_same(assignment: Assignment, stage: str, sent: Mapping[str, Any], annotation: Annotation) -> bool:
    """Return whether a repeated answer equals the submitted one."""
    task_type, shown = TASK_TYPES[assignment.campaign.task_type], shown_of(assignment)
    before = task_type.step_back(assignment.draft)
    try:
        if task_type.current_stage(before, shown.content) != stage:
            return False
        again = task_type.answer(task_type.advance(before, stage, task_type.sent_from(sent), shown), shown)
    except AnswerError:
        return False
    return again == dict(annotation.answer)


def _next(assignment: Assignment, place: Participation, now: datetime) -> Claim:
    return claim_next(campaign=assignment.campaign, surrogate_id=assignment.surrogate_id, now=now, place=place)


@durable
def assignment_submit(
    *,
    assignment_id: UUID,
    surrogate_id: UUID,
    now: datetime,
    via: str = INTERNAL,
    is_provisional: bool = False,
    another: bool = True,
) -> Taken:
    """Submit a draft that is finished already and claim the next slot; see `answer_take`.

    Raises
    ------
    AnswerError, AssignmentOver, NoSuchAssignment
    """
    assignment, place = assignment_locked(assignment_id, surrogate_id)
    annotation = getattr(assignment, "annotation", None)
    if annotation is None:
        annotation = _submit(assignment, place, via, _Ending(assignment.draft), is_provisional=is_provisional, now=now)
    return Taken(assignment, annotation, _next(assignment, place, now) if another else None)


@dataclass(frozen=True, slots=True)
class _Ending:
    """An assignment's last draft and the version that it replaces, which is None if the draft is already saved."""

    draft: Draft
    version: int | None = None


def _submit(
    assignment: Assignment, place: Participation, via: str, ending: _Ending, *, is_provisional: bool, now: datetime
) -> Annotation:
    campaign = assignment.campaign
    task_type = TASK_TYPES[campaign.task_type]
    answer = task_type.answer(ending.draft, shown_of(assignment))
    on_time = _end(assignment, ending, now)
    assignment.draft = ending.draft
    clock = assignment.draft.get("clock", {})
    state = _first_state(assignment, on_time=on_time, is_provisional=is_provisional)
    annotation = annotation_enter(
        Annotation(
            published_id=new_annotation_id(campaign.seed, assignment.pk),
            assignment=assignment,
            campaign=campaign,
            item_id=assignment.item_id,
            slot_id=assignment.slot_id if state in FILLING else None,
            surrogate_id=assignment.surrogate_id,
            guideline_id=assignment.guideline_id,
            via=via,
            answer=answer,
            answer_version=task_type.answer_version,
            text_key=task_type.text_key(answer) or None if isinstance(task_type, Written) else None,
            state=state,
            submitted_at=now,
            seconds=(now - assignment.claimed_at).total_seconds(),
            active_seconds=sum(entry["active"] for entry in clock.values()) or None,
            stage_seconds={stage: entry["seconds"] for stage, entry in clock.items()},
        )
    )
    transaction.on_commit(partial(ANSWERS.add, campaign.task_type))
    is_check = place.standing == Standing.SUSPENDED and assignment.item.batch.purpose == Purpose.GOLD
    if place.standing == Standing.SUSPENDED and not is_check:  # begun before, and paid; but it does not count
        annotations_exclude(annotations=[annotation], because=SUSPENDED, actor_id=None, now=now)
        annotation.refresh_from_db()
    return annotation


def _first_state(assignment: Assignment, *, on_time: bool, is_provisional: bool) -> AnnotationState:
    """Return the state that a submission begins in."""
    if not on_time:
        return AnnotationState.LATE
    if assignment.item.state != ItemState.ACTIVE:  # retired at the very moment it was claimed
        return AnnotationState.RETIRED
    return AnnotationState.PROVISIONAL if is_provisional else AnnotationState.COUNTED


_SUBMIT = Update(
    lambda pk, version, draft, after, now: (
        Assignment.objects.filter(pk=pk, state=AssignmentState.LIVE, draft_version=version),
        {"state": AssignmentState.SUBMITTED, "ended_at": now, "draft": draft, "draft_version": after},
    ),
    UUID,
    int,
    dict,
    int,
    datetime,
)


def _end(assignment: Assignment, ending: _Ending, now: datetime) -> bool:
    """Submit an assignment with its last draft and return whether it was on time; the row count decides.

    Raises
    ------
    DraftConflict, AssignmentOver
    """
    if ending.version is None:
        live = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE)
        is_on_time = live.update(state=AssignmentState.SUBMITTED, ended_at=now)
    else:
        is_on_time = _SUBMIT.run(assignment.pk, ending.version, ending.draft, ending.version + 1, now)
    if is_on_time:
        return True
    if ending.version is not None:
        draft_write(assignment, ending.draft, ending.version)
    expired = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.EXPIRED)
    if not expired.update(state=AssignmentState.LATE, ended_at=now):
        assignment.refresh_from_db(fields=["state"])
        raise AssignmentOver(assignment.state)
    return False


@durable
def assignment_skip(*, assignment_id: UUID, surrogate_id: UUID, reason: str, note: str, now: datetime) -> Claim:
    """Give an item back with a reason and claim the next; skipping offensive items doesn't count against anyone."""
    if reason not in SKIP_REASONS:
        raise ValueError(f"unknown reason {reason!r}")
    assignment, place = assignment_locked(assignment_id, surrogate_id)
    skipped = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(
        state=AssignmentState.SKIPPED, ended_at=now, skip_reason=reason, skip_note=note[:500]
    )
    if skipped:
        slots_release(slot_ids=[assignment.slot_id])
        assignment.skip_reason = reason
        assignment_skipped.send(sender=Assignment, assignment=assignment, now=now)
    return _next(assignment, place, now)
