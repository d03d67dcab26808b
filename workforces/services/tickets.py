"""Tickets: what a person from a marketplace or a panel takes, answers and hands in.

What an address says is a claim. An answer is provisional and fills its slot until the marketplace lists the
finished assignment with our code (or had signed the address); then it counts and is paid.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from accounts.audit import record
from accounts.models import ExternalIdentity
from accounts.services import external_surrogate
from accounts.transactions import durable, require_transaction
from annotation.models import Annotation, Assignment
from annotation.services.claims import Claim, Reason, claim_next, participation_lock
from annotation.services.counting import people_lock, submissions_confirm, submissions_give_up
from annotation.services.work import AssignmentOver, NoSuchAssignment, answer_take
from workforces.kinds.base import Arrival, Outcome
from workforces.kinds.mturk.client import RemoteAssignment
from workforces.kinds.mturk.kind import CODE_FIELD
from workforces.kinds.registry import KINDS
from workforces.models import Errand, ErrandKind, Posting, PostingState, Ticket, TicketState, TicketWork, Workforce
from workforces.services.outbox import errand_add
from workforces.services.pay import TRAINING
from workforces.services.terms import terms_of, ticket_terms

GRACE_SECONDS = 900  # clocks differ, and the last click takes its time
CROWDED = 3  # so many times its places may be claimed of one posting by addresses that nobody vouches for
# Why a person is kept from taking more postings.
EXCLUDING = (Reason.ALL_SEEN, Reason.SUSPENDED, Reason.QUOTA_REACHED)


class TicketRefused(ValueError):
    """An arrival cannot become a ticket; the message says why."""


def ticket_find(*, workforce: Workforce, arrival: Arrival) -> Ticket | None:
    """Return the ticket of an arrival, if there is one already."""
    return (
        Ticket.objects.select_related("workforce__campaign", "posting")
        .filter(
            workforce=workforce, remote_id=arrival.remote_id,
            surrogate__external__source=workforce.source, surrogate__external__name=arrival.worker,
        )
        .first()
    )  # fmt: skip


def surrogate_known(*, workforce: Workforce, arrival: Arrival) -> UUID | None:
    """Return who an arrival says they are, if they were here before."""
    known = ExternalIdentity.objects.filter(source=workforce.source, name=arrival.worker)
    return known.values_list("surrogate_id", flat=True).first()


def ticket_open(*, workforce: Workforce, arrival: Arrival, now: datetime) -> Ticket:
    """Return the ticket of an arrival, made at the first sight of it.

    Raises
    ------
    TicketRefused
        The HIT is not one of this campaign, or too many claim to hold places of it.
    """
    found = ticket_find(workforce=workforce, arrival=arrival)
    if found is not None:
        return _taken_again(found, now) if found.state == TicketState.LAPSED else found
    with transaction.atomic():
        posting = _posting(workforce, arrival, now) if arrival.posting else None
        ticket, _ = Ticket.objects.get_or_create(
            workforce=workforce,
            remote_id=arrival.remote_id,
            surrogate_id=external_surrogate(source=workforce.source, name=arrival.worker),
            defaults={
                "posting": posting, "code": secrets.token_urlsafe(18), "is_signed": arrival.is_signed, "opened_at": now,
            },
        )  # fmt: skip
    return ticket


def _posting(workforce: Workforce, arrival: Arrival, now: datetime) -> Posting:
    posting = Posting.objects.filter(workforce=workforce, hit_id=arrival.posting).first()
    if posting is None and workforce.postings.filter(state=PostingState.WANTED).exists():
        raise TicketRefused("this HIT was posted a moment ago: try again in a minute")
    if posting is None:
        raise TicketRefused("this HIT does not belong to this campaign")
    if posting.state == PostingState.SETTLED:
        raise TicketRefused("this HIT is over")
    claimed = posting.tickets.filter(is_signed=False).exclude(state=TicketState.LAPSED).count()
    if not arrival.is_signed and claimed >= CROWDED * posting.places:
        raise TicketRefused("more people claim to hold this HIT than it has places")
    Posting.objects.filter(pk=posting.pk).update(touched_at=now)
    return posting


def _taken_again(ticket: Ticket, now: datetime) -> Ticket:
    """Open a ticket again that was given up: the same person took the same assignment once more."""
    if ticket.posting is not None and ticket.posting.state == PostingState.SETTLED:
        raise TicketRefused("this HIT is over")
    with transaction.atomic():
        Ticket.objects.filter(pk=ticket.pk, state=TicketState.LAPSED).update(state=TicketState.OPEN, opened_at=now)
        if ticket.work.count() >= ticket_terms(ticket).items_per_ticket:
            ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now)
    ticket.refresh_from_db()
    return ticket


def is_owed(ticket: Ticket) -> bool:
    """Return whether a ticket only pays its holder for work that they did before."""
    return ticket.posting is not None and ticket.posting.owed_to_id == ticket.surrogate_id


@durable
def ticket_claim(*, ticket: Ticket, now: datetime) -> Claim:
    """Return the item in hand or the next one; a ticket whose share is done gets none."""
    claim = claim_next(campaign=ticket.workforce.campaign, surrogate_id=ticket.surrogate_id, now=now)
    if claim.assignment is None and claim.reason in EXCLUDING:
        exclusion_begin(workforce=ticket.workforce, surrogate_id=ticket.surrogate_id, why=str(claim.reason), now=now)
    return claim


def exclusion_begin(*, workforce: Workforce, surrogate_id: UUID, why: str, now: datetime) -> None:
    """Keep a person from taking more postings: the marketplace is told once."""
    require_transaction()
    last = _last_word(workforce, surrogate_id)
    if KINDS[workforce.kind].confirms and (last is None or last.kind == ErrandKind.REVOKE):
        errand_add(workforce=workforce, kind=ErrandKind.GRANT, surrogate_id=surrogate_id, text=why, due_at=now)


def exclusion_end(*, workforce: Workforce, surrogate_id: UUID, now: datetime, only: str = "") -> None:
    """Let a person take postings again who was kept from it (for one reason only, if it is given)."""
    require_transaction()
    last = _last_word(workforce, surrogate_id)
    if last is not None and last.kind == ErrandKind.GRANT and only in ("", last.text):
        errand_add(
            workforce=workforce, kind=ErrandKind.REVOKE, surrogate_id=surrogate_id, due_at=now,
            text="There may be work for you again",
        )  # fmt: skip


def _last_word(workforce: Workforce, surrogate_id: UUID) -> Errand | None:
    """Return the last errand that kept a person out or let them back."""
    words = Errand.objects.filter(
        workforce=workforce, surrogate_id=surrogate_id, kind__in=[ErrandKind.GRANT, ErrandKind.REVOKE]
    )
    return words.order_by("-pk").first()


@durable
def ticket_answer(
    *, ticket: Ticket, assignment_id: UUID, stage: str, sent: dict[str, Any], version: int, now: datetime
) -> Ticket:
    """Take an answer; the last stage of the last item makes the ticket ready to be handed in.

    One transaction: an answer without its ticket, or a ticket without its answer, cannot be left behind.

    Raises
    ------
    AnswerError, DraftConflict, AssignmentOver, NoSuchAssignment
    """
    # The person first, then the ticket, then the assignment, as everywhere.
    participation_lock(campaign_id=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id)
    held = Ticket.objects.select_for_update(no_key=True, of=("self",)).get(pk=ticket.pk)
    terms = ticket_terms(ticket)
    if not TicketWork.objects.filter(annotation__assignment=assignment_id, ticket=ticket).exists():
        if held.state != TicketState.OPEN or ticket.work.count() >= terms.items_per_ticket:
            raise AssignmentOver(held.state)
        own = Assignment.objects.filter(pk=assignment_id, campaign_id=ticket.workforce.campaign_id)
        if not own.exists():
            raise NoSuchAssignment
        taken = answer_take(
            assignment_id=assignment_id, surrogate_id=ticket.surrogate_id, stage=stage, sent=sent, version=version,
            now=now, via=ticket.workforce.kind, is_provisional=KINDS[ticket.workforce.kind].confirms, another=False,
        )  # fmt: skip
        if taken.annotation is None:
            return ticket
        TicketWork.objects.get_or_create(annotation=taken.annotation, defaults={"ticket": ticket})
    if ticket.work.count() >= terms.items_per_ticket:
        ticket_finish(ticket=ticket, outcome=Outcome.COMPLETED, now=now)
    ticket.refresh_from_db()
    return ticket


def ticket_finish(*, ticket: Ticket, outcome: Outcome, now: datetime) -> bool:
    """Mark a ticket as ready to be handed in; where nobody has to confirm it, it is."""
    require_transaction()
    confirms = KINDS[ticket.workforce.kind].confirms
    state = TicketState.ANSWERED if confirms else TicketState.SUBMITTED
    times = {"answered_at": now} if confirms else {"answered_at": now, "submitted_at": now}
    return bool(
        Ticket.objects.filter(pk=ticket.pk, state=TicketState.OPEN).update(state=state, outcome=outcome, **times)
    )


@durable
def ticket_confirm(*, ticket: Ticket, remote: RemoteAssignment, now: datetime) -> bool:
    """Match a ticket with what the marketplace lists: its answers count from now on. Return whether that was new.

    Without our code (and without the marketplace's signature) the ticket goes to a person: it may be
    another person's work under this name. It is neither counted nor paid nor refused by a rule.
    """
    proven = ticket.is_signed or remote.answers.get(CODE_FIELD) == ticket.code
    _person_lock(ticket)
    open_states = [TicketState.OPEN, TicketState.ANSWERED, TicketState.LAPSED]
    problem = ""
    if not proven:
        problem = "submitted without the code we gave out"
    elif not (ticket.answered_at or ticket.work.exists() or ticket.trained or is_owed(ticket)):
        problem = "submitted without an answer"
    moved = Ticket.objects.filter(pk=ticket.pk, state__in=open_states).update(
        state=TicketState.UNMATCHED if problem else TicketState.SUBMITTED,
        submitted_at=remote.submitted_at, auto_approval_at=remote.auto_approval_at, problem=problem,
    )  # fmt: skip
    if moved and problem:
        submissions_give_up(annotations=_annotations(ticket), because=problem, now=now)
    elif moved:
        _confirmed(ticket, now)
    return bool(moved)


def _person_lock(ticket: Ticket) -> None:
    """Lock a person's place before their ticket, as their own requests do."""
    people_lock(campaign_id=ticket.workforce.campaign_id, surrogate_ids=[ticket.surrogate_id])


def _annotations(ticket: Ticket) -> list[Annotation]:
    return list(Annotation.objects.filter(ticket_work__ticket=ticket).order_by("pk"))


def _confirmed(ticket: Ticket, now: datetime) -> None:
    """Let the answers of a ticket count, and pay for the training round, once for each person."""
    submissions_confirm(annotations=_annotations(ticket), now=now)
    cents = ticket_terms(ticket).training_bonus_cents
    own = Ticket.objects.filter(workforce=ticket.workforce, surrogate_id=ticket.surrogate_id)
    if cents and own.filter(trained=True).exists():
        errand_add(
            workforce=ticket.workforce, kind=ErrandKind.BONUS, ticket=ticket, surrogate_id=ticket.surrogate_id,
            cents=cents, text="For the training round before the first task", due_at=now,
            token=f"{TRAINING}{ticket.workforce_id}-{ticket.surrogate_id}",
        )  # fmt: skip


@durable
def ticket_accept(*, ticket: Ticket, actor_id: UUID, now: datetime) -> bool:
    """Let a person vouch for a ticket that could not be matched: it counts, and is paid if it is not yet."""
    _person_lock(ticket)
    unmatched = Ticket.objects.filter(pk=ticket.pk).exclude(problem="")
    moved = unmatched.filter(state=TicketState.UNMATCHED).update(state=TicketState.SUBMITTED, problem="")
    moved = moved or unmatched.filter(state=TicketState.APPROVED).update(problem="")
    if moved:
        _confirmed(ticket, now)
        record(
            action="ticket_accept", subject=ticket, now=now, actor_id=actor_id,
            scope_id=ticket.workforce.campaign_id,
        )  # fmt: skip
    return bool(moved)


@durable
def unmatched_record(*, posting: Posting, remote: RemoteAssignment, now: datetime) -> Ticket:
    """Keep an assignment that the marketplace lists and that never was here, for a person to look at."""
    surrogate_id = external_surrogate(source=posting.workforce.source, name=remote.worker)
    ticket, _ = Ticket.objects.get_or_create(
        workforce=posting.workforce, remote_id=remote.remote_id, surrogate_id=surrogate_id,
        defaults={
            "posting": posting, "code": secrets.token_urlsafe(18), "state": TicketState.UNMATCHED,
            "opened_at": remote.accepted_at, "submitted_at": remote.submitted_at,
            "auto_approval_at": remote.auto_approval_at, "problem": "submitted without ever having opened our page",
        },
    )  # fmt: skip
    return ticket


def tickets_lapse(*, workforce: Workforce, now: datetime) -> int:
    """Give up tickets whose time has passed without a submission, once the marketplace was read after that time.

    Their slots reopen; the answers stay, and count after all if the submission appears and the slot is free.
    """
    # A posting keeps its terms, so that nobody loses time that they were promised.
    given = [terms_of(workforce).assignment_seconds] + [
        terms.get("assignment_seconds", 0)
        for terms in workforce.postings.exclude(state=PostingState.SETTLED).values_list("terms", flat=True)
    ]
    long = timedelta(seconds=max(given) + GRACE_SECONDS)
    was_read = (
        Q(posting=None) | Q(posting__state=PostingState.SETTLED) | Q(posting__pulled_at__gte=F("opened_at") + long)
    )
    due = Ticket.objects.filter(
        was_read, workforce=workforce, state__in=[TicketState.OPEN, TicketState.ANSWERED], opened_at__lt=now - long
    )  # fmt: skip
    lapsed = 0
    for ticket in due.select_related("workforce").order_by("pk")[:200]:
        with transaction.atomic():
            _person_lock(ticket)
            moved = Ticket.objects.filter(pk=ticket.pk, state=ticket.state).update(state=TicketState.LAPSED)
            if moved:
                submissions_give_up(annotations=_annotations(ticket), because="not handed in", now=now)
                lapsed += 1
    return lapsed
