"""Drafts: an annotator's answers so far, saved from stage to stage."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation.models import (
    Assignment,
    AssignmentState,
)
from annotation.tasktypes.base import Draft
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.assignments import AssignmentOver, DraftConflict, assignment_of
from annotation.work.services.shown import shown_of


def stage_advance(
    *, assignment_id: UUID, surrogate_id: UUID, stage: str, sent: Mapping[str, Any], version: int, now: datetime
) -> Assignment:
    """Save the answer to one stage in the draft and go to the next stage.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, NoSuchAssignment
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    return draft_write(assignment, draft_advanced(assignment, stage, sent, now), version)


def draft_advanced(assignment: Assignment, stage: str, sent: Mapping[str, Any], now: datetime) -> Draft:
    """Return an assignment's draft with the answer to one stage added."""
    task_type = TASK_TYPES[assignment.campaign.task_type]
    shown = shown_of(assignment, with_page=stage != task_type.stages[0])
    sent = task_type.sent_from(sent)
    draft = task_type.advance(assignment.draft, stage, sent, shown)
    return _clocked(draft, stage, sent, now, assignment)


def draft_save(*, assignment_id: UUID, surrogate_id: UUID, suggestion: Mapping[str, Any], version: int) -> Assignment:
    """Save marks that a person hasn't confirmed yet; they are shown again after a reload or a crash.

    The version stays the same. Of two tabs at the same stage, the later mark is kept, and the first tab to
    confirm wins; the other one gets an error.
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    stage = task_type.current_stage(assignment.draft, assignment.item.content)
    kept = {stage: task_type.suggestion_from(suggestion)}
    draft = {**assignment.draft, "suggestion": {**assignment.draft.get("suggestion", {}), **kept}}
    return draft_write(assignment, draft, version, after=version)


def stage_back(*, assignment_id: UUID, surrogate_id: UUID, version: int, now: datetime) -> Assignment:
    """Reopen the previous stage; the draft records that the annotator went back."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    draft = task_type.step_back(assignment.draft)
    draft["back"] = [
        *assignment.draft.get("back", []),
        [task_type.current_stage(draft, assignment.item.content), now.isoformat()],
    ]
    return draft_write(assignment, draft, version)


def draft_write(assignment: Assignment, draft: Draft, version: int, *, after: int | None = None) -> Assignment:
    """Write a draft if it hasn't changed since ``version``; the row count of one UPDATE decides.

    Overdue work can be finished too, as a late submission.
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
