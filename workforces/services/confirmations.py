"""Confirmations: what the other side lists of finished work, matched with our tickets.

A marketplace lists assignments with the answers that came with them, a panel lists its people and their visits.
"""

import secrets
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from accounts.audit import record
from accounts.identities import claimed_forget, external_surrogate
from accounts.models import Surrogate
from accounts.selectors import is_forgotten
from annotation.services.counting import submissions_confirm, submissions_give_up
from database.transactions import durable
from workforces.kinds.mturk.client import RemoteAssignment
from workforces.kinds.mturk.kind import CODE_FIELD
from workforces.kinds.registry import KINDS
from workforces.models import ErrandKind, ErrandState, PayRefusal, Posting, Ticket, TicketState, TicketWork
from workforces.services.identities import claimed_name, is_person_known, ticket_identify, ticket_people_lock
from workforces.services.outbox import errand_add
from workforces.services.pay import (
    REFUSED_BEFORE,
    TRAINING,
    PayError,
    is_pay_refused,
    is_refusal_under_way,
    pay_errands,
    ticket_lock,
)
from workforces.services.refusals import refusal_carry_out
from workforces.services.terms import ticket_terms
from workforces.services.tickets import FALLS_SHORT, exclusion_check, falls_short, ticket_annotations


def _unconfirmed(ticket: Ticket) -> QuerySet[Ticket]:
    """Return the row of a ticket if the other side has not confirmed it yet."""
    return Ticket.objects.filter(pk=ticket.pk, state__in=[TicketState.OPEN, TicketState.ANSWERED, TicketState.LAPSED])


@durable
def ticket_confirm(*, ticket: Ticket, remote: RemoteAssignment, now: datetime) -> bool:
    """Match a ticket with what the marketplace lists: its answers count from now on. Return whether that was new.

    Without our code (and without the marketplace's signature) the ticket goes to a person: it may be
    another person's work under this name. It is neither counted nor paid nor refused by a rule.
    """
    proven = ticket.is_signed or remote.answers.get(CODE_FIELD) == ticket.code
    ticket_people_lock(ticket, name=remote.worker)
    forgotten = not ticket.is_signed and is_forgotten(source=ticket.workforce.source, name=remote.worker)
    problem = _doubt(ticket, forgotten=forgotten) if proven else "submitted without the code we gave out"
    moved = _unconfirmed(ticket).update(
        state=TicketState.UNMATCHED if problem else TicketState.SUBMITTED,
        submitted_at=remote.submitted_at,
        auto_approval_at=remote.auto_approval_at,
        problem=problem,
    )
    if not moved:
        return False
    if forgotten:
        claimed_forget(surrogate_id=ticket.surrogate_id)
    # Our code came back with this worker, whatever their address claimed: nobody else's it is from now on.
    person = ticket_identify(ticket=ticket, name=remote.worker, now=now) if proven else ticket.surrogate_id
    problem = problem or _refused_before(ticket, person)
    if problem:
        submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    else:
        _confirmed(ticket, person, now)
    if not ticket.is_signed and is_person_known(person):
        exclusion_check(ticket=ticket, surrogate_id=person, now=now)
    return True


def _doubt(ticket: Ticket, *, forgotten: bool) -> str:
    """Return why a person has to look at a submission that brought our code, or nothing.

    ``forgotten``: its worker was erased here.
    """
    answered_at, problem = Ticket.objects.values_list("answered_at", "problem").get(pk=ticket.pk)
    if not answered_at:
        return "submitted before its work was done"
    if problem or ticket.is_signed:
        return str(problem)
    if forgotten and claimed_name(ticket):
        return "its worker asked to be forgotten here, and came under another name"
    # The address may have named another HIT, which asks for less than the one that this turned out to be.
    return FALLS_SHORT if falls_short(ticket, ran_out=False) else ""


def _refused_before(ticket: Ticket, person: UUID) -> str:
    """Hand a ticket that was just confirmed to a manager if the pay of its person was refused; return why, or nothing."""
    is_refused = is_pay_refused(campaign_id=ticket.workforce.campaign_id, surrogate_id=person)
    if not is_refused and not KINDS[ticket.workforce.kind].confirms:  # a panel's visits are refused one by one, too
        own = Ticket.objects.filter(workforce=ticket.workforce, surrogate_id=person, state=TicketState.REFUSED)
        is_refused = own.exists()
    if not is_refused:
        return ""
    Ticket.objects.filter(pk=ticket.pk).update(state=TicketState.UNMATCHED, problem=REFUSED_BEFORE)
    return REFUSED_BEFORE


@durable
def visit_confirm(*, ticket: Ticket, name: str, now: datetime) -> bool:
    """Let the work of a visit count because the panel lists it; return whether that was new.

    A visit that is still in work here is left alone: what its visitor hands in next would be lost.

    Where its own pay was refused before anybody listed it, that is carried out now. Where the pay of other visits of its
    person is refused, a manager decides about this one too.
    """
    ticket_people_lock(ticket, name=name)
    has_work = Exists(TicketWork.objects.filter(ticket=OuterRef("pk")))
    if (
        not _unconfirmed(ticket)
        .exclude(state=TicketState.OPEN)
        .filter(has_work)
        .update(state=TicketState.SUBMITTED, submitted_at=now)
    ):
        return False
    refusal = PayRefusal.objects.filter(campaign=ticket.workforce.campaign_id, surrogate_id=ticket.surrogate_id).first()
    person = ticket_identify(ticket=ticket, name=name, now=now)
    if refusal is not None and refusal_carry_out(ticket=ticket, refusal=refusal, now=now):
        _confirmed(ticket, person, now)
    elif problem := _refused_before(ticket, person):
        submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    else:
        _confirmed(ticket, person, now)
    return True


def _confirmed(ticket: Ticket, person: UUID, now: datetime) -> None:
    """Let the answers of a ticket count, and pay for the training round, once for each person.

    Of a person who was erased meanwhile nothing counts any more: nobody can tell what else they annotated.
    """
    if not is_person_known(person):
        submissions_give_up(annotations=ticket_annotations(ticket), because="the person was erased", now=now)
        return
    # What the person had annotated before in another visit stayed with this visit's surrogate: it does not count.
    work = [row for row in ticket_annotations(ticket) if row.surrogate_id == person]
    submissions_confirm(annotations=work, now=now)
    cents = ticket_terms(ticket).training_bonus_cents
    own = Ticket.objects.filter(workforce=ticket.workforce, surrogate_id=ticket.surrogate_id)
    if cents and own.filter(trained=True).exists():
        errand_add(
            workforce=ticket.workforce,
            kind=ErrandKind.BONUS,
            ticket=ticket,
            surrogate_id=ticket.surrogate_id,
            cents=cents,
            text="For the training round before the first task",
            due_at=now,
            token=f"{TRAINING}{ticket.workforce_id}-{ticket.surrogate_id}",
        )


@durable
def ticket_accept(*, ticket: Ticket, actor_id: UUID, now: datetime) -> bool:
    """Let a person vouch for a ticket that could not be matched: it counts, and is paid if it is not yet.

    Raises
    ------
    PayError
        Its pay was refused, and nobody took that back.
    """
    name = claimed_name(ticket)
    ticket_people_lock(ticket, name=name)
    ticket_lock(ticket.pk)
    if is_refusal_under_way(ticket):
        raise PayError(_("Its pay was refused a moment ago. Undo that first."))
    unmatched = Ticket.objects.filter(pk=ticket.pk).exclude(problem="")
    # That it was decided says that no later refusal takes it back.
    accepted = {"state": TicketState.SUBMITTED, "problem": "", "decided_at": now}
    moved = unmatched.filter(state=TicketState.UNMATCHED).update(**accepted)
    moved = moved or unmatched.filter(state=TicketState.APPROVED).update(problem="")
    if moved:
        pay_errands(ticket, ErrandState.FAILED).filter(kind=ErrandKind.REJECT).update(state=ErrandState.UNDONE)
        _confirmed(ticket, ticket_identify(ticket=ticket, name=name, now=now), now)
        record(
            action="ticket_accept",
            subject=ticket,
            now=now,
            actor_id=actor_id,
            scope_id=ticket.workforce.campaign_id,
        )
    return bool(moved)


@durable
def visit_doubt(*, ticket: Ticket, now: datetime) -> bool:
    """Hand a visit to a manager because another came with the same ids; return whether that was new."""
    ticket_people_lock(ticket)
    problem = "several visits came with these ids"
    if not _unconfirmed(ticket).update(state=TicketState.UNMATCHED, submitted_at=now, problem=problem):
        return False
    submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    return True


@durable
def unmatched_record(*, posting: Posting, remote: RemoteAssignment, now: datetime) -> Ticket:
    """Keep an assignment that the marketplace lists and that never was here, for a person to look at."""
    source = posting.workforce.source
    if is_forgotten(source=source, name=remote.worker):  # what they are called is not kept again
        surrogate_id = Surrogate.objects.create().pk
    else:
        surrogate_id = external_surrogate(source=source, name=remote.worker)
    ticket, _ = Ticket.objects.get_or_create(
        workforce=posting.workforce,
        remote_id=remote.remote_id,
        surrogate_id=surrogate_id,
        defaults={
            "posting": posting,
            "code": secrets.token_urlsafe(18),
            "state": TicketState.UNMATCHED,
            "opened_at": remote.accepted_at,
            "submitted_at": remote.submitted_at,
            "auto_approval_at": remote.auto_approval_at,
            "problem": "submitted without ever having opened our page",
        },
    )
    return ticket
