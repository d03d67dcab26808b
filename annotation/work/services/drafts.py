"""Drafts: what an annotator answered so far, saved as they go from stage to stage."""

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
    """Take what was sent for one stage into the draft and go on to the next.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, NoSuchAssignment
    """
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    return draft_write(assignment, draft_advanced(assignment, stage, sent, now), version)


def draft_advanced(assignment: Assignment, stage: str, sent: Mapping[str, Any], now: datetime) -> Draft:
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
    return draft_write(assignment, draft, version, after=version)


def stage_back(*, assignment_id: UUID, surrogate_id: UUID, version: int, now: datetime) -> Assignment:
    """Open the stage before again; that the annotator went back is part of the record."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    task_type = TASK_TYPES[assignment.campaign.task_type]
    draft = task_type.step_back(assignment.draft)
    draft["back"] = [
        *assignment.draft.get("back", []),
        [task_type.current_stage(draft, assignment.item.content), now.isoformat()],
    ]
    return draft_write(assignment, draft, version)


def draft_write(assignment: Assignment, draft: Draft, version: int, *, after: int | None = None) -> Assignment:
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
