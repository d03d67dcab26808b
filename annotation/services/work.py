"""What an annotator does with an assignment: draft, stages, submission, skip, more time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

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
from annotation.ordering import new_annotation_id
from annotation.services.claims import Claim, claim_next, places_locked
from annotation.services.counting import SUSPENDED, annotation_enter, annotations_exclude, slots_release
from annotation.services.shown import shown_of
from annotation.signals import assignment_skipped
from annotation.tasktypes.base import AnswerError, Draft, Written
from annotation.tasktypes.registry import TASK_TYPES
from database.statements import Statement, Update
from database.transactions import durable, require_transaction

SKIP_REASONS = ("offensive", "unclear", "broken", "language", "other")


class WorkError(Exception):
    """Something could not be done with an assignment."""


class NoSuchAssignment(WorkError):
    """There is no such assignment of this person."""


class AssignmentOver(WorkError):
    """The assignment is no longer in work; ``state`` says why."""

    def __init__(self, state: str) -> None:
        super().__init__(f"the assignment is {state}")
        self.state = state


class ConsentMissing(WorkError):
    """The person has not agreed to the consent text that is in force now."""


class DraftConflict(WorkError):
    """The draft was changed elsewhere (another tab) since this page was shown."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the draft is at version {version}")
        self.version = version


def assignment_of(*, assignment_id: UUID, surrogate_id: UUID) -> Assignment:
    """Return a person's own assignment.

    Raises
    ------
    NoSuchAssignment
        It does not exist or is another annotator's; the two look the same.
    """
    try:
        return Assignment.objects.select_related("item__tokenization__document", "campaign").get(
            pk=assignment_id, surrogate_id=surrogate_id
        )
    except Assignment.DoesNotExist as error:
        raise NoSuchAssignment from error


def stage_advance(
    *, assignment_id: UUID, surrogate_id: UUID, stage: str, sent: Mapping[str, Any], version: int, now: datetime
) -> Assignment:
    """Take what was sent for one stage into the draft and go on to the next.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, NoSuchAssignment
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    return _draft_write(assignment, _advanced(assignment, stage, sent, now), version)


def _advanced(assignment: Assignment, stage: str, sent: Mapping[str, Any], now: datetime) -> Draft:
    """Return the draft of an assignment with what was sent for one stage."""
    task_type = TASK_TYPES[assignment.campaign.task_type]
    shown = shown_of(assignment, with_page=stage != task_type.stages[0])
    sent = task_type.sent_from(sent)
    draft = task_type.advance(assignment.draft, stage, sent, shown)
    return _clocked(draft, stage, sent, now, assignment)


def draft_save(*, assignment_id: UUID, surrogate_id: UUID, suggestion: Mapping[str, Any], version: int) -> Assignment:
    """Keep what a person has marked but not yet confirmed; it is shown again after a reload or a crash.

    The version stays: of two tabs at the same stage the later mark is kept, and whichever confirms
    first wins; the other is told.
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    stage = task_type.current_stage(assignment.draft, assignment.item.content)
    kept = {stage: task_type.suggestion_from(suggestion)}
    draft = {**assignment.draft, "suggestion": {**assignment.draft.get("suggestion", {}), **kept}}
    return _draft_write(assignment, draft, version, after=version)


def stage_back(*, assignment_id: UUID, surrogate_id: UUID, version: int, now: datetime) -> Assignment:
    """Open the stage before again; that the annotator went back is part of the record."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    draft = task_type.step_back(assignment.draft)
    draft["back"] = [
        *assignment.draft.get("back", []),
        [task_type.current_stage(draft, assignment.item.content), now.isoformat()],
    ]
    return _draft_write(assignment, draft, version)


def _draft_write(assignment: Assignment, draft: Draft, version: int, *, after: int | None = None) -> Assignment:
    """Write a draft if nobody wrote since ``version``; the row count of one UPDATE decides.

    Overdue work may be finished too: it will be a late submission.
    """
    after = version + 1 if after is None else after
    writable = [AssignmentState.LIVE, AssignmentState.EXPIRED]
    own = Assignment.objects.filter(pk=assignment.pk, surrogate_id=assignment.surrogate_id)
    written = own.filter(state__in=writable, draft_version=version).update(draft=draft, draft_version=after)
    if not written:
        assignment.refresh_from_db(fields=["state", "draft_version"])
        if assignment.state not in writable:
            raise AssignmentOver(assignment.state)
        raise DraftConflict(assignment.draft_version)
    assignment.draft, assignment.draft_version = draft, after
    return assignment


def _clocked(draft: Draft, stage: str, sent: Mapping[str, Any], now: datetime, assignment: Assignment) -> Draft:
    """Add when a stage was confirmed (server clock) and how long the person was active in it (their clock)."""
    stages = dict(draft.get("clock", {}))
    entry = stages.get(stage, {"active": 0.0})
    started = max([assignment.claimed_at.isoformat(), *(other["at"] for other in stages.values())])
    seconds = max(0.0, (now - datetime.fromisoformat(started)).total_seconds())
    stages[stage] = {
        "at": now.isoformat(),
        "seconds": round(entry.get("seconds", 0.0) + seconds, 3),
        "active": round(entry["active"] + min(_seconds(sent.get("active_seconds")), seconds), 3),
    }
    suggestions = {other: kept for other, kept in draft.get("suggestion", {}).items() if other != stage}
    return {**draft, "clock": stages, "suggestion": suggestions}


def _seconds(value: Any) -> float:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return 0.0


class HandedInElsewhere(WorkError):
    """The item was handed in before, with another answer: from another tab, say. That one counts."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of an answer: the assignment with its draft, and at the end the annotation and the next claim."""

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
    """Take the answer to one stage, from wherever it comes; the last stage submits, all in one transaction.

    Taking the last answer again has no further effect and returns the same annotation. A late submission is kept
    and marked; it does not count, because the slot may be another annotator's by now. A provisional one fills its
    slot, but counts only when it is confirmed (`annotation.services.counting.submissions_confirm`).

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, HandedInElsewhere, NoSuchAssignment
    """
    assignment, place = _locked(assignment_id, surrogate_id)
    annotation = getattr(assignment, "annotation", None)
    if annotation is None:
        draft = _advanced(assignment, stage, sent, now)
        if TASK_TYPES[assignment.campaign.task_type].current_stage(draft, assignment.item.content) is not None:
            return Taken(_draft_write(assignment, draft, version))
        ending = _Ending(draft, version)
        annotation = _submit(assignment, place, via, ending, is_provisional=is_provisional, now=now)
    elif not _says_the_same(assignment, stage, sent, annotation):
        raise HandedInElsewhere
    return Taken(assignment, annotation, _next(assignment, place, now) if another else None)


def _says_the_same(assignment: Assignment, stage: str, sent: Mapping[str, Any], annotation: Annotation) -> bool:
    """Return whether an answer that is sent once more is the one that was handed in."""
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
    assignment, place = _locked(assignment_id, surrogate_id)
    annotation = getattr(assignment, "annotation", None)
    if annotation is None:
        annotation = _submit(assignment, place, via, _Ending(assignment.draft), is_provisional=is_provisional, now=now)
    return Taken(assignment, annotation, _next(assignment, place, now) if another else None)


def _locked(assignment_id: UUID, surrogate_id: UUID) -> tuple[Assignment, Participation]:
    """Lock a person's place and return their own assignment as it is then: they may just have withdrawn."""
    require_transaction()
    place: Participation | None = _PLACE.first(assignment_id, surrogate_id)
    assignment: Assignment | None = _OWN.first(assignment_id, surrogate_id)
    if assignment is None or place is None:
        raise NoSuchAssignment
    assignment.campaign = place.campaign
    return assignment, place


def _own(assignment_id: UUID, surrogate_id: UUID) -> QuerySet[Assignment]:
    return Assignment.objects.filter(pk=assignment_id, surrogate_id=surrogate_id)


_PLACE = Statement(
    lambda assignment_id, surrogate_id: places_locked(
        Participation.objects.filter(
            campaign_id=_own(assignment_id, surrogate_id).values("campaign_id")[:1], surrogate_id=surrogate_id
        )
    ),
    UUID,
    UUID,
)
_OWN = Statement(
    lambda assignment_id, surrogate_id: _own(assignment_id, surrogate_id).select_related(
        "item__tokenization__document", "annotation"
    ),
    UUID,
    UUID,
)


@dataclass(frozen=True, slots=True)
class _Ending:
    """The draft that an assignment ends with, and the version that it replaces; none if it stands there already."""

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
        _draft_write(assignment, ending.draft, ending.version)
    expired = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.EXPIRED)
    if not expired.update(state=AssignmentState.LATE, ended_at=now):
        assignment.refresh_from_db(fields=["state"])
        raise AssignmentOver(assignment.state)
    return False


@durable
def assignment_skip(*, assignment_id: UUID, surrogate_id: UUID, reason: str, note: str, now: datetime) -> Claim:
    """Give an item back with a reason and claim the next; what is skipped as offensive counts against nobody."""
    if reason not in SKIP_REASONS:
        raise ValueError(f"unknown reason {reason!r}")
    assignment, place = _locked(assignment_id, surrogate_id)
    skipped = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(
        state=AssignmentState.SKIPPED, ended_at=now, skip_reason=reason, skip_note=note[:500]
    )
    if skipped:
        slots_release(slot_ids=[assignment.slot_id])
        assignment.skip_reason = reason
        assignment_skipped.send(sender=Assignment, assignment=assignment, now=now)
    return _next(assignment, place, now)


def deadline_extend(*, assignment_id: UUID, surrogate_id: UUID, now: datetime) -> datetime:
    """Give an assignment in work its full time again and return the new deadline."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    deadline_at = now + timedelta(seconds=assignment.campaign.deadline_seconds)
    extended = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(deadline_at=deadline_at)
    if not extended:
        raise AssignmentOver(assignment.state)
    return deadline_at
