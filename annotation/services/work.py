"""What an annotator does with an assignment: draft, stages, submission, skip, more time, report."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from accounts.audit import record
from accounts.transactions import require_transaction
from annotation.models import (
    Annotation,
    Assignment,
    AssignmentState,
    ItemReport,
    ItemState,
    Participation,
    Slot,
    SlotState,
    Ticket,
)
from annotation.ordering import new_annotation_id
from annotation.selectors.documents import tokenization_of
from annotation.services.claims import Claim, claim_next, participation_lock
from annotation.tasktypes.base import Draft
from annotation.tasktypes.registry import TASK_TYPES
from annotation.workforces.registry import WORKFORCES

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


class DraftConflict(WorkError):
    """The draft was changed elsewhere (another tab) since this page was shown."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the draft is at version {version}")
        self.version = version


@dataclass(frozen=True, slots=True)
class Submission:
    """What became of a submission, and what comes next."""

    annotation: Annotation
    next: Claim


def assignment_of(*, assignment_id: UUID, surrogate_id: UUID) -> Assignment:
    """Return a person's own assignment.

    Raises
    ------
    NoSuchAssignment
        It does not exist or is somebody else's (which looks the same).
    """
    try:
        return Assignment.objects.select_related("item__tokenization__document", "campaign", "guideline", "slot").get(
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
    task_type = TASK_TYPES[assignment.campaign.task_type]
    page = tokenization_of(assignment.item.tokenization) if stage != task_type.stages[0] else None
    draft = task_type.advance(assignment.draft, stage, sent, page)
    return _draft_write(assignment, _clocked(draft, stage, sent, now, assignment), version)


def draft_save(*, assignment_id: UUID, surrogate_id: UUID, suggestion: Mapping[str, Any], version: int) -> Assignment:
    """Keep what a person has marked but not yet confirmed; it is shown again after a reload or a crash.

    The version stays: of two tabs at the same stage the later mark is kept, and whichever confirms
    first wins; the other is told.
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    stage = TASK_TYPES[assignment.campaign.task_type].current_stage(assignment.draft)
    draft = {**assignment.draft, "suggestion": {**assignment.draft.get("suggestion", {}), stage: dict(suggestion)}}
    return _draft_write(assignment, draft, version, after=version)


def stage_back(*, assignment_id: UUID, surrogate_id: UUID, version: int, now: datetime) -> Assignment:
    """Open the stage before again; that somebody went back is part of the record."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    draft = task_type.step_back(assignment.draft)
    draft["back"] = [*assignment.draft.get("back", []), [task_type.current_stage(draft), now.isoformat()]]
    return _draft_write(assignment, draft, version)


def _draft_write(assignment: Assignment, draft: Draft, version: int, *, after: int | None = None) -> Assignment:
    """Write a draft if nobody wrote since ``version``; the row count of one UPDATE decides.

    Overdue work may be finished too: it will be a late submission.
    """
    after = version + 1 if after is None else after
    writable = [AssignmentState.LIVE, AssignmentState.EXPIRED]
    written = Assignment.objects.filter(pk=assignment.pk, state__in=writable, draft_version=version).update(
        draft=draft, draft_version=after
    )
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


def assignment_submit(
    *, assignment_id: UUID, surrogate_id: UUID, now: datetime, another: bool = True, ticket: Ticket | None = None
) -> Submission:
    """Submit the finished draft and claim the next slot, as one transaction.

    Submitting again has no further effect and returns the same annotation. A late submission is kept
    and marked, and does not count: the slot may be somebody else's by now. What comes with a ticket
    holds its slot, but counts only when the marketplace has confirmed the ticket.

    Raises
    ------
    AnswerError, AssignmentOver, NoSuchAssignment
    """
    with transaction.atomic():
        assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
        participation_lock(campaign_id=assignment.campaign_id, surrogate_id=surrogate_id)
        annotation = Annotation.objects.filter(assignment=assignment).first() or _submit(assignment, ticket, now)
        claim = Claim(None)
        if another:
            claim = claim_next(campaign=assignment.campaign, surrogate_id=surrogate_id, now=now)
    return Submission(annotation, claim)


def _submit(assignment: Assignment, ticket: Ticket | None, now: datetime) -> Annotation:
    campaign = assignment.campaign
    task_type = TASK_TYPES[campaign.task_type]
    answer = task_type.answer(assignment.draft, tokenization_of(assignment.item.tokenization))
    on_time = _end(assignment, AssignmentState.LIVE, AssignmentState.SUBMITTED, now)
    if not on_time and not _end(assignment, AssignmentState.EXPIRED, AssignmentState.LATE, now):
        assignment.refresh_from_db(fields=["state"])
        existing = Annotation.objects.filter(assignment=assignment).first()
        if existing is not None:  # the same submission, sent twice at once
            return existing
        raise AssignmentOver(assignment.state)
    clock = assignment.draft.get("clock", {})
    awaits = ticket is not None and WORKFORCES[ticket.workforce.kind].confirms
    because = "late" if not on_time else "unverified" if awaits else ""
    annotation = Annotation.objects.create(
        published_id=new_annotation_id(campaign.seed, assignment.pk),
        assignment=assignment,
        campaign=campaign,
        item_id=assignment.item_id,
        slot_id=assignment.slot_id if on_time else None,
        surrogate_id=assignment.surrogate_id,
        guideline_id=assignment.guideline_id,
        answer=answer,
        answer_version=task_type.answer_version,
        ticket=ticket,
        counted=not because,
        not_counted_because=because,
        submitted_at=now,
        seconds=(now - assignment.claimed_at).total_seconds(),
        active_seconds=sum(entry["active"] for entry in clock.values()) or None,
        stage_seconds={stage: entry["seconds"] for stage, entry in clock.items()},
    )
    if on_time:
        Slot.objects.filter(pk=assignment.slot_id).exclude(state=SlotState.CLOSED).update(state=SlotState.FILLED)
        Participation.objects.filter(campaign=campaign, surrogate_id=assignment.surrogate_id).update(
            submitted=F("submitted") + 1
        )
    return annotation


def _end(assignment: Assignment, before: AssignmentState, after: AssignmentState, now: datetime) -> bool:
    """Move an assignment if it still stands where it did; the row count decides who was first."""
    return bool(Assignment.objects.filter(pk=assignment.pk, state=before).update(state=after, ended_at=now))


Skipping = Callable[[Assignment, datetime], None]
_SKIPPINGS: list[Skipping] = []


def on_skip(function: Skipping) -> Skipping:
    """Register what happens when an item is given back, in the same transaction."""
    _SKIPPINGS.append(function)
    return function


def assignment_skip(*, assignment_id: UUID, surrogate_id: UUID, reason: str, note: str, now: datetime) -> Claim:
    """Give an item back with a reason and claim the next; skipping counts against nobody."""
    if reason not in SKIP_REASONS:
        raise ValueError(f"unknown reason {reason!r}")
    with transaction.atomic():
        assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
        participation_lock(campaign_id=assignment.campaign_id, surrogate_id=surrogate_id)
        skipped = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(
            state=AssignmentState.SKIPPED, ended_at=now, skip_reason=reason, skip_note=note[:500]
        )
        if skipped:
            slot_reopen(slot_id=assignment.slot_id)
            assignment.skip_reason = reason
            for function in _SKIPPINGS:
                function(assignment, now)
        return claim_next(campaign=assignment.campaign, surrogate_id=surrogate_id, now=now)


def slot_reopen(*, slot_id: int) -> None:
    """Put a slot back for somebody else; that of a retired item closes."""
    slots_reopen(slot_ids=[slot_id])


def slots_reopen(*, slot_ids: Collection[int]) -> None:
    """Put slots back for somebody else; those of retired items close, those meant for one person stay theirs."""
    require_transaction()
    slots = Slot.objects.filter(pk__in=slot_ids, state__in=[SlotState.HELD, SlotState.FILLED])
    slots.filter(Q(item__state=ItemState.RETIRED) | Q(is_wanted=False)).update(state=SlotState.CLOSED)
    slots.filter(injection__isnull=False).update(state=SlotState.ASIDE)
    slots.filter(item__state=ItemState.ACTIVE).update(state=SlotState.OPEN, is_reopened=True)


def deadline_extend(*, assignment_id: UUID, surrogate_id: UUID, now: datetime) -> datetime:
    """Give an assignment in work its full time again and return the new deadline."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    deadline_at = now + timedelta(seconds=assignment.campaign.deadline_seconds)
    extended = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(deadline_at=deadline_at)
    if not extended:
        raise AssignmentOver(assignment.state)
    return deadline_at


def item_report(*, assignment_id: UUID, surrogate_id: UUID, text: str, now: datetime) -> None:
    """Record that somebody finds an item broken; managers see it, the work goes on."""
    with transaction.atomic():
        assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
        report = ItemReport.objects.create(
            item_id=assignment.item_id, surrogate_id=surrogate_id, text=text[:1000], created_at=now
        )
        # Who reported stands in the report alone, so that a withdrawal can unlink it.
        record(action="item_report", subject=report, now=now, actor_id=None, scope_id=assignment.campaign_id)


def annotation_exclude(*, annotation: Annotation, because: str, actor_id: UUID | None, now: datetime) -> bool:
    """Keep an annotation but count it no longer, and ask for another in its slot."""
    with transaction.atomic():
        excluded = Annotation.objects.filter(pk=annotation.pk, counted=True).update(
            counted=False, not_counted_because=because, is_examined=False
        )
        if excluded:
            if annotation.slot_id is not None:
                slot_reopen(slot_id=annotation.slot_id)
            record(
                action="annotation_exclude", subject=annotation, now=now, actor_id=actor_id,
                scope_id=annotation.campaign_id, because=because,
            )  # fmt: skip
    return bool(excluded)
