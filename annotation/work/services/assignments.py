"""A person's own assignments, the errors about them, and more time for one."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from annotation.models import (
    Assignment,
    AssignmentState,
    Participation,
)
from annotation.slots.services.participation_locks import places_locked
from database.statements import Statement
from database.transactions import require_transaction


class WorkError(Exception):
    """Something could not be done with an assignment."""


class NoSuchAssignment(WorkError):
    """The person has no such assignment."""


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
        The assignment doesn't exist or is another annotator's; the two cases look the same.
    """
    try:
        return Assignment.objects.select_related("item__tokenization__document", "campaign").get(
            pk=assignment_id, surrogate_id=surrogate_id
        )
    except Assignment.DoesNotExist as error:
        raise NoSuchAssignment from error


class HandedInElsewhere(WorkError):
    """The item was submitted before, with another answer: from another tab, say. That one counts."""


def assignment_locked(assignment_id: UUID, surrogate_id: UUID) -> tuple[Assignment, Participation]:
    """Lock a participation and return the person's assignment, read under the lock: they may just have withdrawn."""
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


def deadline_extend(*, assignment_id: UUID, surrogate_id: UUID, now: datetime) -> datetime:
    """Give an assignment in work its full time again and return the new deadline."""
    assignment = assignment_of(assignment_id=assignment_id, surrogate_id=surrogate_id)
    deadline_at = now + timedelta(seconds=assignment.campaign.deadline_seconds)
    extended = Assignment.objects.filter(pk=assignment.pk, state=AssignmentState.LIVE).update(deadline_at=deadline_at)
    if not extended:
        raise AssignmentOver(assignment.state)
    return deadline_at
