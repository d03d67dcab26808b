"""Erasing the identity of a person from a marketplace or a panel, after their pay is settled."""

from datetime import datetime

from django.db.models import Q

from accounts.identities import external_erase
from accounts.models import ExternalIdentity
from database.transactions import durable
from workforces.kinds.registry import KINDS
from workforces.models import Errand, ErrandState, Ticket, TicketState

# In these a ticket of a marketplace is still to be paid or decided.
_UNSETTLED = [TicketState.OPEN, TicketState.ANSWERED, TicketState.SUBMITTED, TicketState.UNMATCHED]


class NotSettled(ValueError):
    """A person has work that isn't paid or decided yet."""


@durable
def person_erase(*, ticket: Ticket, now: datetime) -> None:
    """Erase the name of a ticket's person, in every campaign; their work stays, without a person.

    Raises
    ------
    NotSettled
        Some of their submissions aren't paid or decided yet, and without their id they couldn't be.
    """
    identity = ExternalIdentity.objects.select_for_update().filter(surrogate_id=ticket.surrogate_id).first()
    if identity is None:
        return  # a second click
    own = Ticket.objects.filter(surrogate_id=identity.surrogate_id)
    to_do = Q(surrogate_id=identity.surrogate_id) | Q(ticket__in=own)
    waiting = Errand.objects.filter(to_do, state__in=[ErrandState.DUE, ErrandState.SENDING])
    paid_by_us = [key for key, kind in KINDS.items() if kind.confirms]
    if own.filter(state__in=_UNSETTLED, workforce__kind__in=paid_by_us).exists() or waiting.exists():
        raise NotSettled
    external_erase(identity=identity, actor_id=None, now=now)
