"""The entry pages for people from a marketplace or a panel: a signed address identifies them, without cookies.

These pages are shown in another site's frame, so they need neither a session nor a CSRF token, and render without them.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from accounts.selectors import consent_is_current, consent_text_current, is_forgotten
from annotation.desk import actions, pages
from annotation.desk.problems import Problem
from annotation.desk.seats import Seat, Step
from annotation.language import language_speak
from annotation.models import Assignment, Campaign
from annotation.people.services.training import Lesson
from annotation.slots.services.claims import RAN_OUT, Claim, Reason
from annotation.tasktypes.registry import pages_of
from annotation.work.services.assignments import ConsentMissing
from database.statements import Statement
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
    ticket_submit,
)
from workforces.views.frames import VisitOver, framed, framed_problem, in_frame

SALT = "quorate.visit"
COOKIE = "quorate_visit"
MAX_AGE_SECONDS = 3 * 86_400
OF_VISIT = {"consent": "visit-agree", "training": "visit-learn", "guidelines-read": "visit-guidelines"}
OF_ASSIGNMENT = ("stage", "back", "draft", "submit", "skip", "events")


_WORKFORCES = Workforce.objects.select_related("campaign")
_BY_PK = Statement(lambda pk: _WORKFORCES.filter(pk=pk), int)
_BY_KEY = Statement(lambda key: _WORKFORCES.filter(key=key, is_active=True), str)


def _token(workforce: Workforce, arrival: Arrival) -> str:
    return signing.dumps({"workforce": workforce.pk, **asdict(arrival)}, salt=SALT, compress=True)


def _token_read(token: str) -> dict[str, Any]:
    try:
        data: dict[str, Any] = signing.loads(token, salt=SALT, max_age=MAX_AGE_SECONDS)
    except signing.BadSignature as error:
        raise VisitOver from error
    return data


class VisitSeat(Seat):
    """The visitor, the workforce and the ticket, read from the signed address."""

    frame = "workforces/visit/base.html"
    desk_frame = "workforces/visit/base.html"
    head_template = "workforces/visit/_head.html"
    training_note = gettext_lazy("The pay for this task covers the training time.")

    def __init__(self, request: HttpRequest, token: str) -> None:
        super().__init__(request)
        data = _token_read(token)
        self.token = token
        workforce = _BY_PK.first(data.pop("workforce"))
        if workforce is None or not workforce.is_active:
            raise VisitOver
        self.workforce = workforce
        self.campaign: Campaign = workforce.campaign
        language_speak(request, self.campaign)
        self.arrival = Arrival(**data)
        self.found = ticket_find(workforce=workforce, arrival=self.arrival)
        if self.found is None and is_forgotten(source=workforce.source, name=self.arrival.worker):
            raise VisitOver

    @cached_property
    def known_id(self) -> UUID | None:
        """Return the person's surrogate, or None if the person isn't known here."""
        return surrogate_known(workforce=self.workforce, arrival=self.arrival, ticket=self.found)

    @cached_property
    def has_consented(self) -> bool:
        """Return whether this person agreed to the current consent text."""
        return self.known_id is not None and consent_is_current(scope_id=self.campaign.pk, surrogate_id=self.known_id)

    @cached_property
    def ticket(self) -> Ticket:
        """Return the ticket, created at the first visit, and only after consent.

        Raises
        ------
        ConsentMissing
        """
        if not self.has_consented:
            raise ConsentMissing
        ticket = ticket_open(workforce=self.workforce, arrival=self.arrival, found=self.found, now=timezone.now())
        ticket.workforce = self.workforce
        return ticket

    @property
    def surrogate_id(self) -> UUID:
        """The surrogate of the ticket's person."""
        return self.ticket.surrogate_id

    def prove(self, assignment_id: UUID) -> None:
        """Refuse an assignment that belongs to another person."""
        assignment_check(ticket=self.ticket, assignment_id=assignment_id)

    def address(self, action: str, assignment: Assignment | None = None) -> str:
        """Return the address of an action; all begin with the signed address."""
        if action in ("work", "next"):
            return reverse("visit", args=[self.token])
        if assignment is None:
            return reverse(OF_VISIT[action], args=[self.token]) if action in OF_VISIT else ""
        return reverse(f"visit-{action}", args=[self.token, assignment.pk]) if action in OF_ASSIGNMENT else ""

    def answer(self, assignment_id: UUID, *, stage: str, sent: dict[str, Any], version: int, now: datetime) -> Step:
        """Submit an answer of this ticket; after its last item, the ticket can be submitted."""
        ticket_answer(ticket=self.ticket, assignment_id=assignment_id, stage=stage, sent=sent, version=version, now=now)
        return Step(Claim(None))

    def submit(self, assignment_id: UUID, *, now: datetime) -> Step:
        """Submit a finished draft of this ticket."""
        ticket_submit(ticket=self.ticket, assignment_id=assignment_id, now=now)
        return Step(Claim(None))

    def skip(self, assignment_id: UUID, *, reason: str, note: str, now: datetime) -> Step:
        """Return an item; the ticket continues with another one."""
        return Step(
            visit_services.visit_skip(
                ticket=self.ticket, assignment_id=assignment_id, reason=reason, note=note, now=now
            )
        )

    def learn(self, *, number: int, sent: Mapping[str, Any], now: datetime) -> Lesson | None:
        """Submit an answer to an example; the ticket with the last example is paid for the training."""
        return visit_services.visitor_learn(ticket=self.ticket, number=number, sent=sent, now=now)

    def go_on(self, _step: Step, _now: datetime) -> HttpResponse:
        """Redirect to the address of the visit, which shows its step.

        After the last item of a HIT, show the last page at once, because its form is sent by itself. The last pages of
        other workforces show a code, and people reload them.
        """
        is_done = self.ticket.state not in (TicketState.OPEN, TicketState.LAPSED)
        if is_done and KINDS[self.workforce.kind].confirms:
            return self.leave(self.ticket)
        return redirect("visit", token=self.token)

    def ask_consent(self) -> HttpResponse:
        """Show the consent text, and how to end the visit without agreeing."""
        begun = self.found is not None and visit_services.has_begun(self.found)
        context = {"text": consent_text_current(self.campaign.pk), "begun": begun}
        return self.page("workforces/visit/consent.html", context)

    def teach(self) -> HttpResponse:
        """Show the current training example of this person."""
        return pages.lesson_page(self)

    def no_work(self, step: Step, now: datetime) -> HttpResponse:
        """Show that there are no items; finished work is still submitted, except during a pause."""
        claim, ticket = step.claim, self.ticket
        waits = claim.reason is Reason.PAUSED and visit_services.has_begun(ticket)
        if not waits and visit_services.visit_end(ticket=ticket, ran_out=claim.reason in RAN_OUT, now=now):
            ticket.refresh_from_db()
            return self.leave(ticket)
        outcome = Outcome.SCREENED_OUT if claim.reason is Reason.SUSPENDED else Outcome.NOTHING_LEFT
        farewell = None
        if not waits and KINDS[self.workforce.kind].leaves_by_code:
            farewell = self._farewell(outcome, ticket)
        return self.page("workforces/visit/no_work.html", {"claim": claim, "farewell": farewell, "waits": waits})

    def ticket_done(self) -> Ticket | None:
        """Return the ticket if it only needs to be submitted; no consent is needed for that."""
        if self.found is not None and self.found.state not in (TicketState.OPEN, TicketState.LAPSED):
            return self.found
        return visit_services.owed_collect(
            workforce=self.workforce, arrival=self.arrival, found=self.found, now=timezone.now()
        )

    def leave(self, ticket: Ticket) -> HttpResponse:
        """Show how to submit the ticket."""
        outcome = Outcome(ticket.outcome or Outcome.NOTHING_LEFT)  # the panel listed it while it was in work
        if KINDS[self.workforce.kind].confirms:  # it is submitted there, and what it is worth is decided here
            outcome = Outcome.COMPLETED
        own = statement_path(ticket) if is_person_known(ticket.surrogate_id) else ""
        waits = ticket.state == TicketState.ANSWERED and not KINDS[self.workforce.kind].confirms
        context = {"ticket": ticket, "farewell": self._farewell(outcome, ticket), "statement": own, "waits": waits}
        return self.page("workforces/visit/leave.html", context)

    def _farewell(self, outcome: Outcome, ticket: Ticket) -> Any:
        kind = kind_of(self.workforce, now=timezone.now())
        return kind.farewell(self.arrival, terms_of(self.workforce), outcome, ticket.code)

    def extras(self, _step: Step) -> dict[str, Any]:
        """Return the guidelines, which are included in these pages, so that no other address is needed."""
        return pages.reading(self.campaign)

    def page(self, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        """Render a page for a frame of another site."""
        own = {"seat": self, "campaign": self.campaign, "token": self.token, "pages": pages_of(self.campaign.task_type)}
        return framed(self.request, template, {**own, **context}, status)

    def problem_page(self, problem: Problem) -> HttpResponse:
        """Render an error page."""
        return framed_problem(self.request, problem)


@in_frame
@require_GET
def enter(request: HttpRequest, key: str, door: str) -> HttpResponse:
    """Admit a person by the data in the address; a preview shows the instructions and stores nothing.

    A signed address of a frame shows the visit's step at once. Any other leads to an address of the visit, so that a
    reload continues it.
    """
    workforce = _BY_KEY.first(key)
    if workforce is None or KINDS[workforce.kind].door != door:
        raise Http404
    arrival = kind_of(workforce, now=timezone.now()).arrive(request.GET.dict(), terms_of(workforce))
    if arrival is None:
        return _preview(request, workforce)
    if is_forgotten(source=workforce.source, name=arrival.worker):
        raise ArrivalRefused("arrival_forgotten")
    if not arrival.is_signed:
        arrival = _continued(request, workforce, arrival) or replace(arrival, visit=str(uuid4()))
    token = _token(workforce, arrival)
    if arrival.is_signed and door == "hit":
        return _step(VisitSeat(request, token))
    response = redirect("visit", token=token)
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
    """Return the visit that this browser began with the same ids; other browsers can't see it."""
    try:
        data = _token_read(request.COOKIES.get(COOKIE, ""))
    except VisitOver:
        return None
    is_same = data.pop("workforce") == workforce.pk and data["visit"] and replace(arrival, visit=data["visit"])
    return is_same if is_same and asdict(is_same) == data else None


def _preview(request: HttpRequest, workforce: Workforce) -> HttpResponse:
    campaign = workforce.campaign
    language_speak(request, campaign)
    reading = pages.reading(campaign)
    context = {
        "campaign": campaign,
        **reading,
        "examples": reading["examples"][:1],
        "pages": pages_of(campaign.task_type),
    }
    return framed(request, "workforces/visit/preview.html", context)


@in_frame
@require_GET
def visit(request: HttpRequest, token: str) -> HttpResponse:
    """Show the current step of a visit: consent, training, the current item, or how to leave."""
    return _step(VisitSeat(request, token))


def _step(seat: VisitSeat) -> HttpResponse:
    if (done := seat.ticket_done()) is not None:
        return seat.leave(done)
    if not seat.has_consented:
        return seat.ask_consent()
    ticket, now = seat.ticket, timezone.now()
    if ticket.state != TicketState.OPEN or is_owed(ticket):  # it had lapsed with all of its work done, or needs none
        visit_services.visit_end(ticket=ticket, ran_out=True, now=now)
        ticket.refresh_from_db()
        return seat.leave(ticket)
    claim = ticket_claim(ticket=ticket, now=now)
    return pages.show(seat, Step(replace(claim, is_unread=True)), now)  # as far as is known yet


@in_frame
@require_POST
def agree(request: HttpRequest, token: str) -> HttpResponse:
    """Record consent, or end the visit with the work done so far."""
    seat = VisitSeat(request, token)
    if "hand_in" in request.POST:
        if seat.found is not None:
            visit_services.visit_end(ticket=seat.found, ran_out=False, now=timezone.now())
        return redirect("visit", token=token)
    text = consent_text_current(seat.campaign.pk)
    if text is not None and request.POST.get("text") == str(text.pk):
        visit_services.visitor_consent(
            workforce=seat.workforce, arrival=seat.arrival, text_id=text.pk, now=timezone.now()
        )
    return redirect("visit", token=token)


@in_frame
@require_POST
def guidelines(request: HttpRequest, token: str) -> HttpResponse:
    """Record that a visitor read the changes of the guidelines."""
    actions.guidelines_read(VisitSeat(request, token))
    return redirect("visit", token=token)


@in_frame
@require_POST
def learn(request: HttpRequest, token: str) -> HttpResponse:
    """Submit an answer of the training round and show the right one."""
    return pages.learn(VisitSeat(request, token), timezone.now())


def at_assignment(action: actions.Action) -> Callable[..., HttpResponse]:
    """Wrap an action on an assignment as a view for visitors."""

    @in_frame
    @require_POST
    @wraps(action)
    def view(request: HttpRequest, token: str, assignment_id: UUID) -> HttpResponse:
        seat = VisitSeat(request, token)
        seat.prove(assignment_id)
        return action(seat, assignment_id)

    return view
