"""The marketplace that this installation works with, as its settings say."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing

from accounts.transactions import refuse_transaction
from annotation.models import Posting, Ticket
from annotation.models import Workforce as WorkforceRow
from annotation.workforces.base import Terms, terms_from
from annotation.workforces.base import Workforce as WorkforceKind
from annotation.workforces.mturk import Endpoint, Market
from annotation.workforces.mturk_frame import MTurk
from annotation.workforces.registry import WORKFORCES


class NotConfigured(ValueError):
    """No marketplace is configured here."""


def market() -> Market:
    """Return a client for the configured marketplace.

    Raises
    ------
    NotConfigured
    """
    if not settings.MTURK_ENDPOINT_URL or not settings.MTURK_ACCESS_KEY_ID:
        raise NotConfigured("set MTURK_ENDPOINT_URL, MTURK_ACCESS_KEY_ID and MTURK_SECRET_ACCESS_KEY")
    return Market(
        Endpoint(
            settings.MTURK_ENDPOINT_URL, settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY,
            settings.MTURK_REQUESTS_PER_SECOND,
        ),
        refuse_transaction,
    )  # fmt: skip


def kind_of(row: WorkforceRow, *, now: datetime) -> WorkforceKind:
    """Return the workforce behind a row, as configured here."""
    if row.kind == MTurk.key:
        return MTurk(settings.MTURK_SUBMIT_URLS, settings.MTURK_FRAME_SECRET, now.timestamp())
    return WORKFORCES[row.kind]


def terms_of(row: WorkforceRow) -> Any:
    """Return the terms of a row."""
    return terms_from(WORKFORCES[row.kind], row.terms)


def ticket_terms(ticket: Ticket) -> Any:
    """Return the terms a ticket was taken under: those of its posting, whatever was changed since."""
    return posting_terms(ticket.posting) if ticket.posting is not None else terms_of(ticket.workforce)


def posting_terms(posting: Posting) -> Any:
    """Return the terms of a posting, as they were when it was made."""
    return terms_from(WORKFORCES[posting.workforce.kind], posting.terms or posting.workforce.terms)


def terms_check(kind: str, data: Mapping[str, Any]) -> Terms:
    """Return terms that were given, or say what is wrong with them (`ValueError`)."""
    if kind not in WORKFORCES:
        raise ValueError(f"unknown workforce {kind!r}: expected one of {', '.join(WORKFORCES)}")
    terms: Terms = terms_from(WORKFORCES[kind], data)
    return terms


STATEMENT = "quorate.statement"


def statement_path(*, workforce_id: int, surrogate_id: UUID) -> str:
    """Return the address where somebody sees their work and its pay, and can appeal or take consent back."""
    token = signing.dumps([workforce_id, str(surrogate_id)], salt=STATEMENT)
    return f"/statement/{token}/"
