"""Matching the marketplace's submissions with our tickets."""

import secrets
from datetime import datetime

from django.utils.translation import gettext_noop

from accounts.identities import claimed_forget, external_surrogate
from accounts.models import Surrogate
from accounts.selectors import is_forgotten
from annotation.slots.services.counting import submissions_give_up
from database.statements import Statement, Update
from database.transactions import durable
from workforces.kinds.base import Submission
from workforces.models import Posting, Ticket, TicketState
from workforces.services.confirmations import refused_before, unconfirmed, work_count
from workforces.services.exclusions import exclusion_check
from workforces.services.identities import claimed_name, is_person_known, ticket_identify, ticket_people_lock
from workforces.services.tickets import FALLS_SHORT, falls_short, ticket_annotations


@durable
def ticket_confirm(*, ticket: Ticket, remote: Submission, has_code: bool, now: datetime) -> bool:
    """Match a ticket with the marketplace's submission: its answers count from now on. Return whether that is new.

    Without our code (and without the marketplace's signature) a manager decides about the ticket, since it may
    be another person's work under this name. It is neither counted nor paid, and no rule refuses it.
    """
    proven = ticket.is_signed or has_code
    ticket_people_lock(ticket, name=remote.worker)
    forgotten = not ticket.is_signed and is_forgotten(source=ticket.workforce.source, name=remote.worker)
    problem = _doubt(ticket, forgotten=forgotten) if proven else gettext_noop("Submitted without the completion code")
    state = TicketState.UNMATCHED if problem else TicketState.SUBMITTED
    if not _CONFIRM.run(ticket.pk, state, remote.submitted_at, remote.auto_approval_at, problem):
        return False
    if forgotten:
        claimed_forget(surrogate_id=ticket.surrogate_id)
    # Our code came back with this worker, whatever their address claimed: nobody else's it is from now on.
    person = ticket_identify(ticket=ticket, name=remote.worker, now=now) if proven else ticket.surrogate_id
    problem = problem or refused_before(ticket, person)
    if problem:
        submissions_give_up(annotations=ticket_annotations(ticket), because=problem, now=now)
    else:
        work_count(ticket, person, now)
    if not ticket.is_signed and is_person_known(person):
        exclusion_check(ticket=ticket, surrogate_id=person, now=now)
    return True


_CONFIRM = Update(
    lambda pk, state, submitted_at, auto_approval_at, problem: (
        unconfirmed(pk),
        {"state": state, "submitted_at": submitted_at, "auto_approval_at": auto_approval_at, "problem": problem},
    ),
    int,
    str,
    datetime,
    datetime,
    str,
)
_AS_STORED = Statement(lambda pk: Ticket.objects.filter(pk=pk).only("answered_at", "problem"), int)


def _doubt(ticket: Ticket, *, forgotten: bool) -> str:
    """Return the reason why a manager has to check a submission with our code; empty if there is none.

    ``forgotten``: its worker was erased here.
    """
    stored = _AS_STORED.first(ticket.pk)
    if not stored.answered_at:
        return gettext_noop("This assignment was submitted before its items were answered")
    if stored.problem or ticket.is_signed:
        return str(stored.problem)
    if forgotten and claimed_name(ticket):
        return gettext_noop("The worker asked us to delete their ID and came back under another name")
    # The address may have named another HIT, which asks for less than the one that this turned out to be.
    return FALLS_SHORT if falls_short(ticket, ran_out=False) else ""


@durable
def unmatched_record(*, posting: Posting, remote: Submission, now: datetime) -> Ticket:
    """Store an assignment from the marketplace's list that is unknown here, for a manager to check."""
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
            "problem": gettext_noop("Submitted without opening the task page"),
        },
    )
    return ticket
