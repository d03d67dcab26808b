"""Qualifications: those that a worker holds or can request, and tests."""

from typing import Any

import nh3
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from marketplace import clock
from marketplace.forms import TestForm
from marketplace.models import QualificationRequest, QualificationType
from marketplace.protocol.forms import Block, Form, parse_form
from marketplace.selectors import search_words
from marketplace.services.qualifications import RequestRefused, request_begin, request_submit, test_deadline
from marketplace.views.access import WorkerRequest, worker_page
from marketplace.views.words import REFUSALS

State = QualificationRequest.State
_TAGS = {
    "p",
    "b",
    "i",
    "em",
    "strong",
    "u",
    "br",
    "ul",
    "ol",
    "li",
    "h1",
    "h2",
    "h3",
    "h4",
    "pre",
    "code",
    "table",
    "tr",
    "td",
    "th",
    "tbody",
    "thead",
    "blockquote",
    "a",
}


@require_safe
@worker_page
def listing(request: WorkerRequest) -> HttpResponse:
    """Show qualifications that the worker holds or can request."""
    search = request.GET.get("q", "")[:100]
    held = request.user.qualifications.filter(is_granted=True, qualification_type__deleted_at=None)
    offered = QualificationType.objects.filter(is_active=True, is_requestable=True, deleted_at=None)
    for word in search_words(search):
        offered = offered.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    context = {
        "held": held.select_related("qualification_type__requester").order_by("-granted_at", "pk"),
        "waiting": request.user.qualification_requests.filter(state=State.PENDING).select_related("qualification_type"),
        "offered": offered.exclude(qualifications__in=held).select_related("requester").order_by("-pk")[:50],
        "search": search,
    }
    return render(request, "marketplace/qualifications.html", context)


@require_http_methods(["GET", "POST"])
@worker_page
def one(request: WorkerRequest, type_id: str) -> HttpResponse:
    """Show a qualification; request it or take its test."""
    kinds = QualificationType.objects.select_related("requester")
    kind = get_object_or_404(kinds, qualification_type_id=type_id, deleted_at=None)
    now = clock.now()
    begun = kind.requests.filter(worker=request.user, state=State.BEGUN).first()
    if request.method == "POST":
        if begun is not None and "answer" in request.POST:
            return _send(request, kind, begun)
        try:
            request_begin(kind=kind, worker=request.user, now=now)
        except RequestRefused as refusal:
            messages.warning(request, _refused(refusal))
        return redirect("qualification", type_id=type_id)
    if begun is not None and now < test_deadline(begun):
        return _show_test(request, kind, begun, TestForm(parse_form(begun.test or ""), request.POST))
    context = {
        "kind": kind,
        "held": kind.qualifications.filter(worker=request.user, is_granted=True).first(),
        "last": kind.requests.filter(worker=request.user).order_by("-pk").first(),
    }
    return render(request, "marketplace/qualification.html", context)


def _send(request: WorkerRequest, kind: QualificationType, begun: QualificationRequest) -> HttpResponse:
    test = TestForm(parse_form(begun.test or ""), request.POST)
    answers = test.answers()
    if answers is None:
        return _show_test(request, kind, begun, test)
    try:
        sent = request_submit(request=begun, answers=answers, now=clock.now())
    except RequestRefused as refusal:
        messages.warning(request, _refused(refusal))
    else:
        messages.success(
            request,
            _("Qualification granted.")
            if sent.state == State.GRANTED
            else _("Your request was sent to the requester."),
        )
    return redirect("qualification", type_id=kind.qualification_type_id)


def _show_test(
    request: WorkerRequest, kind: QualificationType, begun: QualificationRequest, test: TestForm
) -> HttpResponse:
    context = {
        "kind": kind,
        "deadline": test_deadline(begun),
        "parts": _parts(test.form, test),
        "has_errors": bool(test.errors),
    }
    return render(request, "marketplace/test.html", context, status=422 if test.errors else 200)


def _parts(form: Form, test: TestForm) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    number = 0
    for part in form.parts:
        if isinstance(part, Block):
            parts.append({"block": part, "html": _formatted(part)})
            continue
        name = f"q{number}"
        given = test.data.getlist(name)
        blocks = [{"block": block, "html": _formatted(block)} for block in part.content]
        parts.append({"field": part, "name": name, "given": given, "error": test.errors.get(name), "content": blocks})
        number += 1
    return parts


def _formatted(block: Block) -> SafeString | None:
    """Return a requester's formatted text, reduced to plain markup."""
    if block.kind != "formatted":
        return None
    return mark_safe(nh3.clean(block.text, tags=_TAGS, attributes={"a": {"href"}}))  # noqa: S308 - nh3 has cleaned it


def _refused(refusal: RequestRefused) -> str:
    text = str(REFUSALS[refusal.reason])
    return (
        f"{text} {_('From %(time)s on.') % {'time': f'{refusal.until:%Y-%m-%d %H:%M} UTC'}}" if refusal.until else text
    )
