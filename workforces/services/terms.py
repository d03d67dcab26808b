"""The terms of a workforce, a posting and a ticket, and the kind of a row."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workforces.kinds.base import Kind, Terms, TermsError, Unsigned, terms_from
from workforces.kinds.registry import KINDS
from workforces.models import Posting, Ticket, Workforce


def kind_of(row: Workforce, *, now: datetime) -> Kind:
    """Return the kind of a row, as configured here."""
    return KINDS[row.kind].configured(row.secret, now.timestamp())


def terms_of(row: Workforce) -> Any:
    """Return the terms of a row."""
    return terms_from(KINDS[row.kind], row.terms)


def ticket_terms(ticket: Ticket) -> Any:
    """Return the terms under which a ticket was taken: those of its posting, regardless of later changes."""
    posting = ticket.posting
    if posting is None:
        return terms_of(ticket.workforce)
    if posting.workforce_id == ticket.workforce_id:
        posting.workforce = ticket.workforce  # saves a query: it was read with the ticket
    return posting_terms(posting)


def is_provisional(ticket: Ticket) -> bool:
    """Return whether the work of a ticket counts only after the other side has confirmed it."""
    if KINDS[ticket.workforce.kind].confirms:
        return True
    return not ticket.is_signed and ticket_terms(ticket).unsigned != Unsigned.COUNT


def posting_terms(posting: Posting) -> Any:
    """Return the terms of a posting at the time of its creation."""
    return terms_from(KINDS[posting.workforce.kind], posting.terms or posting.workforce.terms)


def terms_check(kind: str, data: Mapping[str, Any]) -> Terms:
    """Return the given terms, checked; raise `ValueError` with the error in them."""
    if kind not in KINDS:
        raise TermsError("workforce_unknown", kind=repr(kind), known=", ".join(KINDS))
    terms: Terms = terms_from(KINDS[kind], data)
    return terms
