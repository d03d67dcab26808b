"""Pages for people from a marketplace or a panel: in a frame, without any cookie, with a signed address.

The address is the proof that a request belongs to an arrival, so these pages need neither a session nor a
CSRF token. They render without either.
"""

from dataclasses import asdict, replace
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.parameters import whole_number
from accounts.selectors import consent_is_current, consent_text_current, is_forgotten
from annotation.models import Assignment, Campaign
from annotation.selectors.campaigns import guideline_change, guideline_current
from annotation.services import events as event_log
from annotation.services.campaigns import guideline_read
from annotation.services.claims import RAN_OUT, Claim, Reason
from annotation.services.training import lesson_next
from annotation.services.work import SKIP_REASONS, ConsentMissing, draft_save, stage_back
from annotation.tasktypes.registry import TASK_TYPES, pages_of
from annotation.views.annotate import events_sent
from annotation.views.drafts import draft_told
from annotation.views.language import language_speak
from annotation.views.markdown import markdown_html
from annotation.views.problems import PROBLEMS, problem_of
from workforces.kinds.base import Arrival, ArrivalRefused, Outcome
from workforces.kinds.registry import KINDS
from workforces.models import Ticket, TicketState, Workforce
from workforces.services import visits as visit_services
from workforces.services.identities import is_person_known, surrogate_known, ticket_find
from workforces.services.statements import statement_path
from workforces.services.terms import kind_of, terms_of
from workforces.services.tickets import (
    assignment_check,
    is_owed,
    ticket_answer,
    ticket_claim,
    ticket_open,
)
from workforces.views.frames import VisitOver, framed, framed_problem, in_frame

SALT = "quorate.visit"
COOKIE = "quorate_visit"
MAX_AGE_SECONDS = 3 * 86_400


def _token(workforce: Workforce, arrival: Arrival) -> str:
    return signing.dumps({"workforce": workforce.pk, **asdict(arrival)}, salt=SALT, compress=True)


def _token_read(token: str) -> dict[str, Any]:
    try:
        data: dict[str, Any] = signing.loads(token, salt=SALT, max_age=MAX_AGE_SECONDS)
    except signing.BadSignature as error:
        raise VisitOver from error
    return data


class Visit:
    """Who is here, by which way, with which ticket: read from the signed address."""

    def __init__(self, request: HttpRequest, token: str) -> None:
        data = _token_read(token)
        self.token = token
        workforce = Workforce.objects.select_related("campaign").filter(pk=data.pop("workforce")).first()
        if workforce is None or not workforce.is_active:
            raise VisitOver
        self.workforce = workforce
        self.campaign: Campaign = workforce.campaign
        language_speak(request, self.campaign)
        self.arrival = Arrival(**data)
        self.found = ticket_find(workforce=workforce, arrival=self.arrival)
        if self.found is None and is_forgotten(source=workforce.source, name=self.arrival.worker):
            raise VisitOver
        self.surrogate_id = surrogate_known(workforce=workforce, arrival=self.arrival, ticket=self.found)

    @cached_property
    def has_consented(self) -> bool:
        """Return whether this person agreed to the text in force."""
        return self.surrogate_id is not None and consent_is_current(
            scope_id=self.campaign.pk, surrogate_id=self.surrogate_id
        )

    def ticket(self, assignment_id: UUID | None = None) -> Ticket:
        """Return the ticket, made at first sight; only after consent, and only if the assignment belongs to it.

        Raises
        ------
        ConsentMissing, NoSuchAssignment
        """
        if not self.has_consented:
            raise ConsentMissing
        ticket = ticket_open(workforce=self.workforce, arrival=self.arrival, found=self.found, now=timezone.now())
        ticket.workforce = self.workforce
        if assignment_id is not None:
            assignment_check(ticket=ticket, assignment_id=assignment_id)
        return ticket

    def ticket_done(self) -> Ticket | None:
        """Return the ticket if all that is left is to hand it in; nobody has to agree to anything for that."""
        if self.found is not None and self.found.state not in (TicketState.OPEN, TicketState.LAPSED):
            return self.found
        return visit_services.owed_collect(
            workforce=self.workforce, arrival=self.arrival, found=self.found, now=timezone.now()
        )

    def context(self) -> dict[str, Any]:
        """Return what every page of a visit shows."""
        return {"campaign": self.campaign, "token": self.token, "pages": pages_of(self.campaign.task_type)}


@in_frame
@require_GET
def enter(request: HttpRequest, key: str, door: str) -> HttpResponse:
    """Take a person in by what the address says; a preview shows the instructions and makes no row."""
    workforce = get_object_or_404(Workforce.objects.select_related("campaign"), key=key, is_active=True)
    if KINDS[workforce.kind].door != door:
        raise Http404
    arrival = kind_of(workforce, now=timezone.now()).arrive(request.GET.dict(), terms_of(workforce))
    if arrival is None:
        return _preview(request, workforce)
    if is_forgotten(source=workforce.source, name=arrival.worker):
        raise ArrivalRefused("you asked to be forgotten here, so you cannot take part again")
    if not arrival.is_signed:
        arrival = _continued(request, workforce, arrival) or replace(arrival, visit=str(uuid4()))
    response = redirect("visit", token=(token := _token(workforce, arrival)))
    if door == "join":  # a page of its own, where the browser keeps what is ours
        response.set_cookie(
            COOKIE,
            token,
            max_age=MAX_AGE_SECONDS,
            path=workforce.path,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response


def _continued(request: HttpRequest, workforce: Workforce, arrival: Arrival) -> Arrival | None:
    """Return the visit that this browser began with the same ids; in any other browser it stays unseen."""
    try:
        data = _token_read(request.COOKIES.get(COOKIE, ""))
    except VisitOver:
        return None
    is_same = data.pop("workforce") == workforce.pk and data["visit"] and replace(arrival, visit=data["visit"])
    return is_same if is_same and asdict(is_same) == data else None


def _preview(request: HttpRequest, workforce: Workforce) -> HttpResponse:
    campaign = workforce.campaign
    language_speak(request, campaign)
    context = {
        "campaign": campaign,
        "guidelines": _guidelines(campaign),
        "examples": _examples(campaign)[:1],
        "pages": pages_of(campaign.task_type),
    }
    return framed(request, "workforces/visit/preview.html", context)


def _guidelines(campaign: Campaign) -> str:
    return mark_safe(markdown_html(guideline_current(campaign).body))  # noqa: S308  sanitised


@in_frame
@require_GET
def visit(request: HttpRequest, token: str) -> HttpResponse:
    """Show where this visit stands: consent, training, the item in hand, or how to leave."""
    here = Visit(request, token)
    if (done := here.ticket_done()) is not None:
        return _leave(request, here, done)
    if not here.has_consented:
        return _consent(request, here)
    ticket = here.ticket()
    if ticket.state != TicketState.OPEN or is_owed(ticket):  # it had lapsed with all of its work done, or needs none
        visit_services.visit_end(ticket=ticket, ran_out=True, now=timezone.now())
        ticket.refresh_from_db()
        return _leave(request, here, ticket)
    claim = ticket_claim(ticket=ticket, now=timezone.now())
    if claim.reason is Reason.TRAINING_NEEDED:
        return _lesson(request, here, ticket)
    if claim.assignment is None:
        return _no_work(request, here, ticket, claim)
    return _item(request, here, ticket, claim.assignment)


def _item(request: HttpRequest, here: Visit, ticket: Ticket, assignment: Assignment) -> HttpResponse:
    """Show the item in hand; before it, what changed in the guidelines since this person read them."""
    change = guideline_change(here.campaign, ticket.surrogate_id)
    if change is not None:
        return framed(request, "workforces/visit/changed.html", here.context() | {"change": change})
    template, more = pages_of(here.campaign.task_type).stage(assignment)
    names = ("stage", "back", "draft", "skip", "events")
    urls = {name: reverse(f"visit-{name}", args=[here.token, assignment.pk]) for name in names}
    context = here.context() | more | {"urls": urls, "stage_template": template, "examples": _examples(here.campaign)}
    return framed(request, "workforces/visit/work.html", context | {"guidelines": _guidelines(here.campaign)})


def _consent(request: HttpRequest, here: Visit) -> HttpResponse:
    begun = here.found is not None and visit_services.has_begun(here.found)
    context = here.context() | {"text": consent_text_current(here.campaign.pk), "begun": begun}
    return framed(request, "workforces/visit/consent.html", context)


def _examples(campaign: Campaign) -> Any:
    return TASK_TYPES[campaign.task_type].examples


def _lesson(request: HttpRequest, here: Visit, ticket: Ticket) -> HttpResponse:
    lesson = lesson_next(campaign=here.campaign, surrogate_id=ticket.surrogate_id)
    assert lesson is not None  # the claim said so
    if lesson.number == 1 and "begin" not in request.GET:
        context = here.context() | {"guidelines": _guidelines(here.campaign), "examples": _examples(here.campaign)}
        return framed(request, "workforces/visit/welcome.html", context)
    context = here.context() | {"lesson": lesson} | pages_of(here.campaign.task_type).item(lesson.content)
    return framed(request, "workforces/visit/lesson.html", context)


def _no_work(request: HttpRequest, here: Visit, ticket: Ticket, claim: Claim) -> HttpResponse:
    """Say that there is nothing; what was done with this ticket is handed in all the same, except during a pause."""
    waits = claim.reason is Reason.PAUSED and visit_services.has_begun(ticket)
    if not waits and visit_services.visit_end(ticket=ticket, ran_out=claim.reason in RAN_OUT, now=timezone.now()):
        ticket.refresh_from_db()
        return _leave(request, here, ticket)
    outcome = Outcome.SCREENED_OUT if claim.reason is Reason.SUSPENDED else Outcome.NOTHING_LEFT
    farewell = None
    if not waits and not KINDS[here.workforce.kind].confirms:  # a marketplace has its own way to give a task back
        farewell = kind_of(here.workforce, now=timezone.now()).farewell(
            here.arrival, terms_of(here.workforce), outcome, ticket.code
        )
    return framed(
        request,
        "workforces/visit/no_work.html",
        here.context() | {"claim": claim, "farewell": farewell, "waits": waits},
    )


def _leave(request: HttpRequest, here: Visit, ticket: Ticket) -> HttpResponse:
    outcome = Outcome(ticket.outcome or Outcome.NOTHING_LEFT)  # the panel listed it while it was in work
    farewell = kind_of(here.workforce, now=timezone.now()).farewell(
        here.arrival, terms_of(here.workforce), outcome, ticket.code
    )
    own = statement_path(ticket) if is_person_known(ticket.surrogate_id) else ""
    waits = ticket.state == TicketState.ANSWERED and not KINDS[here.workforce.kind].confirms
    context = here.context() | {"ticket": ticket, "farewell": farewell, "statement": own, "waits": waits}
    return framed(request, "workforces/visit/leave.html", context)


@in_frame
@require_POST
def agree(request: HttpRequest, token: str) -> HttpResponse:
    """Record consent, or end the visit with what was done so far."""
    here = Visit(request, token)
    if "hand_in" in request.POST:
        if here.found is not None:
            visit_services.visit_end(ticket=here.found, ran_out=False, now=timezone.now())
        return redirect("visit", token=token)
    text = consent_text_current(here.campaign.pk)
    if text is not None and request.POST.get("text") == str(text.pk):
        visit_services.visitor_consent(
            workforce=here.workforce, arrival=here.arrival, text_id=text.pk, now=timezone.now()
        )
    return redirect("visit", token=token)


@in_frame
@require_POST
def guidelines(request: HttpRequest, token: str) -> HttpResponse:
    """Take a visitor's word that they read what changed in the guidelines."""
    here = Visit(request, token)
    guideline_read(
        campaign=here.campaign,
        surrogate_id=here.ticket().surrogate_id,
        version=whole_number(request.POST.get("version"), -1),
    )
    return redirect("visit", token=token)


@in_frame
@require_POST
def learn(request: HttpRequest, token: str) -> HttpResponse:
    """Take an answer of the training round and say what was right."""
    here = Visit(request, token)
    ticket = here.ticket()
    lesson = visit_services.visitor_learn(
        ticket=ticket, number=whole_number(request.POST.get("number")), sent=request.POST.dict(), now=timezone.now()
    )
    if lesson is None:
        return redirect("visit", token=token)
    context = here.context() | {"lesson": lesson} | pages_of(here.campaign.task_type).item(lesson.content)
    return framed(request, "workforces/visit/feedback.html", context)


@in_frame
@require_POST
def answer(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
    """Take an answer; then comes the next item of this ticket, or handing in."""
    here = Visit(request, token)
    ticket_answer(
        ticket=here.ticket(),
        assignment_id=assignment_id,
        stage=request.POST.get("stage", ""),
        sent=request.POST.dict(),
        version=whole_number(request.POST.get("version"), -1),
        now=timezone.now(),
    )
    return redirect("visit", token=token)


@in_frame
@require_POST
def back(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
    """Open the stage before again."""
    here = Visit(request, token)
    stage_back(
        assignment_id=assignment_id,
        surrogate_id=here.ticket(assignment_id).surrogate_id,
        now=timezone.now(),
        version=whole_number(request.POST.get("version"), -1),
    )
    return redirect("visit", token=token)


@in_frame
@require_POST
def draft(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
    """Keep what is marked but not confirmed."""
    here = Visit(request, token)
    try:
        kept = draft_save(
            assignment_id=assignment_id,
            surrogate_id=here.ticket(assignment_id).surrogate_id,
            suggestion=request.POST.dict(),
            version=whole_number(request.POST.get("version"), -1),
        )
    except PROBLEMS as error:
        problem = problem_of(error)
        return JsonResponse({"error": problem.text, **problem.data}, status=problem.status)
    return JsonResponse(draft_told(kept))


@in_frame
@require_POST
def skip(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
    """Give an item back; the ticket goes on with another."""
    here = Visit(request, token)
    reason = request.POST.get("reason", "")
    if reason not in SKIP_REASONS:
        return framed_problem(request, 422, _("Choose why you skip this item."))
    ticket = here.ticket(assignment_id)
    visit_services.visit_skip(ticket=ticket, assignment_id=assignment_id, reason=reason, now=timezone.now())
    return redirect("visit", token=token)


@in_frame
@require_POST
def events(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
    """Store a piece of the click log."""
    here = Visit(request, token)
    sent = events_sent(request)
    if sent is not None and here.has_consented:
        event_log.events_store(
            assignment_id=assignment_id,
            surrogate_id=here.ticket(assignment_id).surrogate_id,
            sequence=sent[0],
            events=sent[1],
            now=timezone.now(),
        )
    return HttpResponse(status=204)
