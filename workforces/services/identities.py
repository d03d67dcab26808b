"""The person to whom a ticket belongs.

A signed address identifies a person. Any other address is a claim: the visit gets its own surrogate and
sees only its own data. When the other side confirms the person, the visit's work goes to that person.
"""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from accounts.identities import claimed_confirm, claimed_surrogate, external_surrogate
from accounts.models import ClaimedIdentity, ExternalIdentity, Surrogate
from accounts.selectors import external_known, left_since
from accounts.services import consent_withdraw
from annotation.people.services.joining import participation_join, standing_join
from annotation.people.services.withdrawal import participation_withdraw, withdrawal_of
from annotation.slots.services.participation_locks import people_lock
from database.statements import Statement
from database.transactions import require_transaction
from workforces.kinds.base import Arrival, Unknown
from workforces.models import Errand, Ticket, Workforce


def ticket_find(*, workforce: Workforce, arrival: Arrival) -> Ticket | None:
    """Return the existing ticket of an arrival, or None."""
    if arrival.is_signed:
        return ticket_named(workforce=workforce, remote_id=arrival.remote_id, name=arrival.worker)
    found: Ticket | None = _BY_VISIT.first(workforce.pk, UUID(arrival.visit)) if arrival.visit else None
    return found


def ticket_named(*, workforce: Workforce, remote_id: str, name: str) -> Ticket | None:
    """Return the ticket of a known person, or None."""
    found: Ticket | None = _BY_NAME.first(workforce.pk, remote_id, workforce.source, name)
    return found


_TICKETS = Ticket.objects.select_related("workforce__campaign", "posting")
_BY_VISIT = Statement(lambda workforce, visit: _TICKETS.filter(workforce_id=workforce, visit=visit), int, UUID)
_BY_NAME = Statement(
    lambda workforce, remote_id, source, name: _TICKETS.filter(
        workforce_id=workforce,
        remote_id=remote_id,
        surrogate__external__source=source,
        surrogate__external__name=name,
    ).order_by("pk")[:1],
    int,
    str,
    str,
    str,
)


def surrogate_known(*, workforce: Workforce, arrival: Arrival, ticket: Ticket | None) -> UUID | None:
    """Return the surrogate of an arrival, or None if the arrival is unknown."""
    if ticket is not None:
        return ticket.surrogate_id
    if not arrival.is_signed:
        return Surrogate.objects.filter(pk=arrival.visit).values_list("pk", flat=True).first()
    return external_known(source=workforce.source, name=arrival.worker)


def surrogate_begin(*, workforce: Workforce, arrival: Arrival) -> UUID:
    """Return the surrogate of an arrival, created if necessary: the person's for a signed address, else the visit's."""
    if arrival.is_signed:
        return external_surrogate(source=workforce.source, name=arrival.worker)
    visit = UUID(arrival.visit)
    claimed_surrogate(surrogate_id=visit, source=workforce.source, name=arrival.worker)
    return visit


def claimed_name(ticket: Ticket) -> str:
    """Return the name that an unconfirmed visit claims; empty if the ticket's person is known."""
    claimed = _CLAIMED.rows(ticket.surrogate_id)
    return str(claimed[0][0]) if claimed else ""


_CLAIMED = Statement(
    lambda surrogate_id: (
        ClaimedIdentity.objects.filter(surrogate_id=surrogate_id).order_by("pk").values_list("name")[:1]
    ),
    UUID,
)


def person_name(errand: Errand) -> str:
    """Return the other side's name for the person of an errand.

    Raises
    ------
    Unknown
        The errand is about nobody, or the person was erased.
    """
    if errand.surrogate_id is None:
        raise Unknown("this errand is about nobody")
    name = ExternalIdentity.objects.filter(surrogate_id=errand.surrogate_id).values_list("name", flat=True).first()
    if name is None:
        raise Unknown("this person was erased")
    return name


def is_person_known(surrogate_id: UUID) -> bool:
    """Return whether the other side has confirmed the person's identity."""
    return bool(_IS_KNOWN.rows(surrogate_id))


_IS_KNOWN = Statement(
    lambda surrogate_id: ExternalIdentity.objects.filter(surrogate_id=surrogate_id).values_list("pk")[:1], UUID
)


def ticket_people_lock(ticket: Ticket, *, name: str = "") -> None:
    """Lock the participations of a ticket's person, and of the person it may turn out to be, before the ticket."""
    named = external_known(source=ticket.workforce.source, name=name) if name else None
    people = {ticket.surrogate_id, named or ticket.surrogate_id}
    people_lock(campaign_id=ticket.workforce.campaign_id, surrogate_ids=people)


def ticket_identify(*, ticket: Ticket, name: str, now: datetime) -> UUID:
    """Give an unconfirmed visit's work to the person named by the other side, and return that person.

    A known person keeps their ticket. If the person has another ticket with the same id, this one stays with its visit.
    """
    require_transaction()
    visit = ticket.surrogate_id
    if not claimed_name(ticket):
        return visit
    person = claimed_confirm(surrogate_id=visit, source=ticket.workforce.source, name=name)
    if person == visit:
        return visit
    campaign = ticket.workforce.campaign
    if left_since(scope_id=campaign.pk, person=person, visit=visit):  # who withdrew meant this visit too
        asked = withdrawal_of(campaign=campaign, surrogate_id=person)
        if asked is None:
            # People who left keep the standing that they earned: they may come back.
            standing_join(campaign=campaign, before=visit, after=person, now=now)
            participation_withdraw(campaign=campaign, surrogate_id=visit, now=now)
            return _hand_over(ticket, visit, person)
        # It can still be taken back: then the work of this visit comes back with the rest.
        consent_withdraw(scope_id=campaign.pk, surrogate_id=visit, now=asked.asked_at)
    participation_join(campaign=campaign, before=visit, after=person, now=now)
    return _hand_over(ticket, visit, person)


def _hand_over(ticket: Ticket, visit: UUID, person: UUID) -> UUID:
    """Transfer a visit's ticket and its errands to the person, and return that person."""
    Errand.objects.filter(workforce=ticket.workforce, surrogate_id=visit).update(surrogate_id=person)
    same = Ticket.objects.filter(workforce=ticket.workforce, remote_id=ticket.remote_id, surrogate_id=person)
    if not same.exists():
        Ticket.objects.filter(pk=ticket.pk).update(surrogate_id=person)
        ticket.surrogate_id = person
    return person


def tickets_claimed(*, workforce: Workforce, name: str, remote_id: str) -> QuerySet[Ticket]:
    """Return the tickets of visits with these ids, the ticket finished first before the others."""
    return (
        Ticket.objects.filter(
            workforce=workforce,
            remote_id=remote_id,
            surrogate__claimed__source=workforce.source,
            surrogate__claimed__name=name,
        )
        .select_related("workforce__campaign", "posting")
        .order_by("answered_at", "pk")
    )
