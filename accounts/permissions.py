"""Permissions of people: one function, one table."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from accounts.models import Membership, Role, User

if TYPE_CHECKING:
    from django.http import HttpRequest


class Action(StrEnum):
    """Every action that needs a permission."""

    CREATE_CAMPAIGN = "create_campaign"
    ANNOTATE = "annotate"
    SEE_CAMPAIGN = "see_campaign"
    SEE_ITEMS = "see_items"
    SEE_ANSWERS = "see_answers"
    MANAGE = "manage"
    SEE_RELEASES = "see_releases"
    RELEASE = "release"
    JUDGE = "judge"
    UNSEAL = "unseal"  # of administrators alone


# Experts see no list of items: those of gold keys are not on it, and so it would tell which case is one.
_ALLOWED: dict[str, frozenset[Action]] = {
    Role.ANNOTATOR: frozenset({Action.ANNOTATE}),
    Role.EXPERT: frozenset({Action.SEE_CAMPAIGN, Action.JUDGE}),
    Role.MANAGER: frozenset(
        {Action.SEE_CAMPAIGN, Action.SEE_ITEMS, Action.SEE_ANSWERS, Action.MANAGE, Action.SEE_RELEASES}
    ),
    Role.RESEARCHER: frozenset({Action.SEE_CAMPAIGN, Action.SEE_ITEMS, Action.SEE_RELEASES, Action.RELEASE}),
}

# What administrators may not do either, without the role.
_BY_ROLE_ALONE = frozenset({Action.ANNOTATE, Action.JUDGE})

# A campaign, or the query that finds its id.
ScopeId = UUID | QuerySet[Any, Any]


def roles_of(user: User | AnonymousUser, scope_id: ScopeId) -> frozenset[str]:
    """Return the roles a person has in a campaign."""
    if not isinstance(user, User):
        return frozenset()
    roles = Membership.objects.filter(user=user, scope_id=scope_id)  # type: ignore[misc]  # the stubs know no queries here
    return frozenset(roles.values_list("role", flat=True))


def can(user: User | AnonymousUser, action: Action, scope_id: ScopeId | None = None) -> bool:
    """Return whether a person may do something, in a campaign or (without one) on the installation.

    Administrators may do everything except annotate and judge, which need the role: that work has to be blind.
    """
    if not isinstance(user, User) or not user.is_active:
        return False
    if scope_id is None:
        return user.is_admin
    if user.is_admin and action not in _BY_ROLE_ALONE:
        return True
    return any(action in _ALLOWED[role] for role in roles_of(user, scope_id))


def actions_of(user: User, scope_id: UUID) -> frozenset[Action]:
    """Return everything a person may do in a campaign."""
    roles = roles_of(user, scope_id)
    allowed = frozenset[Action]().union(*(_ALLOWED[role] for role in roles))
    return allowed | (frozenset(Action) - _BY_ROLE_ALONE) if user.is_admin else allowed


def signed_in(request: "HttpRequest") -> User:
    """Return the user of a request behind a login (a view without one is a mistake)."""
    if not isinstance(request.user, User):
        raise TypeError("this view needs @login_required")
    return request.user
