"""Whether an annotator may continue with their assignment, checked at every request about it."""

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Consent, Membership, Role
from accounts.selectors import consent_of
from annotation.models import Assignment
from database.statements import Statement


class MemberState(NamedTuple):
    """Whether a person is an annotator in their assignment's campaign, and agreed to its current consent text."""

    is_annotator: bool
    has_agreed: bool


def _query(assignment_id: UUID, surrogate_id: UUID) -> QuerySet[Assignment, Any]:
    roles = Membership.objects.filter(
        scope_id=OuterRef("campaign_id"), user__surrogate_id=surrogate_id, role=Role.ANNOTATOR
    )
    consents = Consent.objects.filter(consent_of(scope_id=OuterRef(OuterRef("campaign_id")), surrogate_id=surrogate_id))
    own = Assignment.objects.filter(pk=assignment_id, surrogate_id=surrogate_id)
    return own.values_list(Exists(roles), Exists(consents))


_STATEMENT = Statement(_query, UUID, UUID)


def member_state(*, assignment_id: UUID, surrogate_id: UUID) -> MemberState | None:
    """Return the role and consent of a person for an assignment; None if the assignment isn't theirs."""
    rows = _STATEMENT.rows(assignment_id, surrogate_id)
    return MemberState(*map(bool, rows[0])) if rows else None
