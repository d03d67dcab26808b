"""The messages for answers that can't be accepted: one table for every page that takes answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _

from annotation.models import AssignmentState
from annotation.tasktypes.base import AnswerError
from annotation.work.services.assignments import (
    AssignmentOver,
    ConsentMissing,
    DraftConflict,
    HandedInElsewhere,
    NoSuchAssignment,
)
from annotation.work.services.undo import NothingToUndo, OpenedAgain
from web.error_texts import error_text


@dataclass(frozen=True, slots=True)
class Problem:
    """The status and text of an error page, and additional data for scripts."""

    status: int
    text: str
    data: dict[str, Any] = field(default_factory=dict)


def _conflict(error: DraftConflict) -> Problem:
    text = _("You changed this item in another tab. Reload the page to see the latest version. Nothing is lost.")
    return Problem(409, text, {"version": error.version})


def _over(error: AssignmentOver) -> Problem:
    if error.state == AssignmentState.EXPIRED:
        return Problem(410, _("The time for this item ran out. Your draft is kept, and you can still finish it."))
    if error.state == AssignmentState.RELEASED:
        return Problem(
            410, _("You opened another item, so this one is no longer assigned to you. Reload the page to continue.")
        )
    return Problem(410, _("This item is already done. Your answer is kept. Reload the page to continue."))


_PROBLEMS: dict[type[Exception], Callable[[Any], Problem]] = {
    NoSuchAssignment: lambda _error: Problem(404, _("This item doesn't exist or isn't assigned to you.")),
    ConsentMissing: lambda _error: Problem(
        403, _("The consent text has changed. Reload the page to read and accept it. Your work on this item is kept.")
    ),
    DraftConflict: _conflict,
    AssignmentOver: _over,
    NothingToUndo: lambda _error: Problem(409, _("You can no longer undo this answer.")),
    OpenedAgain: lambda _error: Problem(
        409, _("You've reopened an earlier answer. Submit it before you undo another one.")
    ),
    HandedInElsewhere: lambda _error: Problem(
        409,
        _(
            "You submitted a different answer for this item in another tab. That answer counts. Reload the page to continue."
        ),
    ),
    AnswerError: lambda error: Problem(422, error_text(error), {"field": error.field}),
}
PROBLEMS = tuple(_PROBLEMS)


def problem_of(error: Exception) -> Problem:
    """Return the text that a person reads about one of `PROBLEMS`."""
    return next(make(error) for kind, make in _PROBLEMS.items() if isinstance(error, kind))


def is_script(request: HttpRequest) -> bool:
    """Return whether the request comes from a script of the desk, which expects JSON."""
    return request.headers.get("Accept", "").startswith("application/json")


def problem_json(problem: Problem) -> JsonResponse:
    """Return a problem as JSON for scripts."""
    return JsonResponse({"error": problem.text, **problem.data}, status=problem.status)
