"""A person's actions at the desk. Each action takes one request of a seat; a door makes it a view."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.parameters import whole_number
from annotation.campaigns.services.campaigns import guideline_read
from annotation.desk.problems import Problem
from annotation.desk.seats import Seat, Step
from annotation.language import language_speak
from annotation.models import Assignment
from annotation.questions.services import item_report
from annotation.slots.services.claims import Claim
from annotation.tasktypes.base import AnswerError
from annotation.tasktypes.registry import pages_of
from annotation.work.services.assignments import WorkError, deadline_extend
from annotation.work.services.drafts import draft_save, stage_back
from annotation.work.services.events import events_store, piece_sent
from annotation.work.services.shown import remarks_of
from annotation.work.services.submissions import SKIP_REASONS

Action = Callable[[Seat, UUID], HttpResponse]


def stage(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Take the answer to one stage; the last stage submits, and shows the next item."""
    now, sent = timezone.now(), seat.request.POST
    try:
        step = seat.answer(
            assignment_id, stage=sent.get("stage", ""), sent=sent.dict(), version=_version(seat.request), now=now
        )
    except (WorkError, AnswerError):  # the answer is refused, but its click log is kept
        with suppress(WorkError):
            events(seat, assignment_id)
        raise
    return seat.go_on(step, now)


def submit(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Submit a finished draft and show the next item."""
    now = timezone.now()
    return seat.go_on(seat.submit(assignment_id, now=now), now)


def back(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Reopen the previous stage."""
    now = timezone.now()
    assignment = stage_back(
        assignment_id=assignment_id, surrogate_id=seat.surrogate_id, version=_version(seat.request), now=now
    )
    return seat.go_on(Step(Claim(assignment)), now)


def draft(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Save marks that aren't confirmed yet; return the draft's version and the remarks on its text."""
    kept = draft_save(
        assignment_id=assignment_id,
        surrogate_id=seat.surrogate_id,
        suggestion=seat.request.POST.dict(),
        version=_version(seat.request),
    )
    language_speak(seat.request, kept.campaign)
    return JsonResponse({"version": kept.draft_version, "remarks": _remarks(kept)})


def _remarks(assignment: Assignment) -> list[dict[str, Any]]:
    texts = pages_of(assignment.campaign.task_type).remark_texts
    return [{"text": str(texts[one.key]), "refuses": one.refuses} for one in remarks_of(assignment)]


def skip(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Give an item back and show the next one."""
    now, sent = timezone.now(), seat.request.POST
    reason = sent.get("reason", "")
    if reason not in SKIP_REASONS:
        return seat.problem(Problem(422, _("Choose a reason for skipping this item.")))
    return seat.go_on(seat.skip(assignment_id, reason=reason, note=sent.get("note", ""), now=now), now)


def report(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Tell the managers that something is wrong with an item."""
    text = seat.request.POST.get("text", "").strip()
    if not text:
        return seat.problem(Problem(422, _("Describe the problem in a few words.")))
    now = timezone.now()
    if not item_report(assignment_id=assignment_id, surrogate_id=seat.surrogate_id, text=text, now=now):
        several = _("You've already sent several messages about this item. The managers will read those first.")
        return seat.problem(Problem(409, several))
    if seat.is_partial:
        return seat.page("annotation/_reported.html", {})
    messages.success(seat.request, _("Thank you. The managers will look at this item."))
    return redirect(seat.address("work"))


def extend(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Give more time."""
    deadline_at = deadline_extend(assignment_id=assignment_id, surrogate_id=seat.surrogate_id, now=timezone.now())
    return JsonResponse({"deadline_at": deadline_at.isoformat()})


def events(seat: Seat, assignment_id: UUID) -> HttpResponse:
    """Store a piece of the click log; a malformed one is dropped, and is never an error."""
    if (piece := piece_sent(seat.request.POST.dict())) is not None:
        events_store(assignment_id=assignment_id, surrogate_id=seat.surrogate_id, piece=piece, now=timezone.now())
    return HttpResponse(status=204)


def guidelines_read(seat: Seat) -> None:
    """Record that a person confirmed reading the changes in the guidelines."""
    guideline_read(campaign=seat.campaign, surrogate_id=seat.surrogate_id, version=_version(seat.request))


def _version(request: HttpRequest) -> int:
    return whole_number(request.POST.get("version"), -1)
