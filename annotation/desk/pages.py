"""The pages of the desk: the current item, changes in the guidelines, and the training round."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import SafeString, mark_safe

from accounts.parameters import whole_number
from annotation.campaigns.selectors.campaigns import guideline_change, guideline_current
from annotation.desk.seats import Seat, Step
from annotation.language import language_speak
from annotation.markdown import markdown_html
from annotation.models import Assignment, Campaign
from annotation.people.services.training import Lesson, lesson_next
from annotation.slots.services.claims import Reason
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from annotation.work.selectors import is_work_open

ACTIONS = ("stage", "back", "draft", "submit", "skip", "report", "extend", "events")  # on an assignment
DESK = ("reserve", "guidelines", "guidelines-read")  # on none in particular


def show(seat: Seat, step: Step, now: datetime) -> HttpResponse:
    """Show a person's next step: consent, training, their item, or why there is none."""
    claim = step.claim
    language_speak(seat.request, seat.campaign)
    if claim.reason is Reason.CONSENT_NEEDED:
        return seat.ask_consent()
    if claim.reason is Reason.TRAINING_NEEDED:
        return seat.teach()
    if claim.assignment is None:
        return seat.no_work(step, now)
    return _item(seat, claim.assignment, step)


def work_page(seat: Seat, template: str, context: dict[str, Any]) -> HttpResponse:
    """Render the work area with a template, alone or in its page."""
    whole = "annotation/_work.html" if seat.is_partial else "annotation/desk/work.html"
    return seat.page(whole, {"campaign": seat.campaign, "stage_template": template, **context})


def _item(seat: Seat, assignment: Assignment, step: Step) -> HttpResponse:
    """Show the current item, or first the changes in the guidelines that this person hasn't read."""
    pages = pages_of(seat.campaign.task_type)
    context = {
        "claim": step.claim,
        "pages": pages,
        "urls": _urls(seat, assignment, undo=seat.may_undo(step)),
        **seat.extras(step),
    }
    if step.claim.is_unread and (change := guideline_change(seat.campaign, seat.surrogate_id)) is not None:
        return work_page(seat, "annotation/_changed.html", context | {"change": change})
    template, more = pages.stage(assignment)
    return work_page(seat, template, context | more)


def _urls(seat: Seat, assignment: Assignment, *, undo: bool) -> dict[str, Any]:
    """Return the addresses of an item's controls; empty for controls that this seat lacks."""
    urls: dict[str, Any] = {name: seat.address(name, assignment) for name in ACTIONS}
    urls |= {name.replace("-", "_"): seat.address(name) for name in DESK}
    return urls | {"undo": seat.address("undo") if undo else "", "partial": bool(urls["reserve"])}


def lesson_page(seat: Seat) -> HttpResponse:
    """Show the introduction, then one example after the other."""
    lesson = lesson_next(campaign=seat.campaign, surrogate_id=seat.surrogate_id)
    if lesson is None:
        return redirect(seat.address("work"))
    is_first = lesson.number == 1 and "begin" not in seat.request.GET
    if not is_first:
        return _lesson(seat, "annotation/desk/lesson.html", lesson)
    has_work = is_work_open(seat.campaign, seat.surrogate_id)
    return _lesson(seat, "annotation/desk/welcome.html", lesson, has_work=has_work)


def learn(seat: Seat, now: datetime) -> HttpResponse:
    """Take an answer of the training round and show the right one."""
    sent = seat.request.POST
    lesson = seat.learn(number=whole_number(sent.get("number")), sent=sent.dict(), now=now)
    return redirect(seat.address("work")) if lesson is None else _lesson(seat, "annotation/desk/feedback.html", lesson)


def _lesson(seat: Seat, template: str, lesson: Lesson, **more: Any) -> HttpResponse:
    pages = pages_of(seat.campaign.task_type)
    urls = {name: seat.address(name) for name in ("training", "next", "start")}
    context = {"campaign": seat.campaign, "pages": pages, "lesson": lesson, "urls": urls, **reading(seat.campaign)}
    return seat.page(template, context | more | pages.item(lesson.content))


def reading(campaign: Campaign) -> dict[str, Any]:
    """Return the guidelines as a page shows them: their text and the examples of the task type."""
    return {"guidelines": guideline_html(campaign), "examples": TASK_TYPES[campaign.task_type].examples}


def guideline_html(campaign: Campaign) -> SafeString:
    """Return the guidelines in force as HTML."""
    return mark_safe(markdown_html(guideline_current(campaign).body))  # noqa: S308  sanitized
