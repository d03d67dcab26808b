"""Excluding people from further postings, and readmitting them."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef

from accounts.models import ExternalIdentity
from annotation.models import (
    Assignment,
    Participation,
    Slot,
    SlotState,
    Standing,
)
from annotation.slots.services.claims import Reason
from database.transactions import require_transaction
from workforces.models import Errand, ErrandKind, Ticket, Workforce
from workforces.services.outbox import errand_add


def exclusion_begin(*, workforce: Workforce, surrogate_id: UUID, why: str, now: datetime) -> None:
    """Exclude a person from further postings; the marketplace is told once, and never about unconfirmed visits."""
    require_transaction()
    last = _last_word(workforce, surrogate_id)
    if not ExternalIdentity.objects.filter(surrogate_id=surrogate_id).exists():
        return
    if last is None or last.kind == ErrandKind.REVOKE:
        errand_add(workforce=workforce, kind=ErrandKind.GRANT, surrogate_id=surrogate_id, text=why, due_at=now)


def exclusion_check(*, ticket: Ticket, surrogate_id: UUID, now: datetime) -> None:
    """Exclude the person behind an unsigned visit from further postings, if they may have no more work.

    People with signed addresses learn this at their next claim; an unconfirmed visit claims as a newcomer.
    """
    campaign_id = ticket.workforce.campaign_id
    place = Participation.objects.filter(campaign_id=campaign_id, surrogate_id=surrogate_id)
    if place.filter(standing__in=[Standing.PAUSED, Standing.SUSPENDED]).exists():
        exclusion_begin(workforce=ticket.workforce, surrogate_id=surrogate_id, why=Reason.SUSPENDED, now=now)
    elif ticket.work.exclude(annotation__surrogate=surrogate_id).exists():  # they had annotated these before
        seen = Assignment.objects.filter(surrogate=surrogate_id, item=OuterRef("item"))
        unseen = Slot.objects.filter(campaign_id=campaign_id, state=SlotState.OPEN).exclude(Exists(seen))
        if not unseen.exists():
            exclusion_begin(workforce=ticket.workforce, surrogate_id=surrogate_id, why=Reason.ALL_SEEN, now=now)


def exclusion_end(*, workforce: Workforce, surrogate_id: UUID, now: datetime, only: str = "") -> None:
    """Readmit an excluded person to postings (only if excluded for a given reason, if one is given)."""
    require_transaction()
    last = _last_word(workforce, surrogate_id)
    if last is not None and last.kind == ErrandKind.GRANT and only in ("", last.text):
        errand_add(
            workforce=workforce,
            kind=ErrandKind.REVOKE,
            surrogate_id=surrogate_id,
            due_at=now,
            text="There may be work for you again",
        )


def exclusions_end(workforce: Workforce, now: datetime) -> None:
    """Readmit people who had seen all items, because there may be new items for them."""
    granted = Errand.objects.filter(workforce=workforce, kind=ErrandKind.GRANT, text=Reason.ALL_SEEN)
    with transaction.atomic():
        for surrogate_id in granted.order_by("surrogate_id").values_list("surrogate_id", flat=True).distinct():
            if surrogate_id is not None:
                exclusion_end(workforce=workforce, surrogate_id=surrogate_id, now=now, only=Reason.ALL_SEEN)


def _last_word(workforce: Workforce, surrogate_id: UUID) -> Errand | None:
    """Return the last errand that excluded or readmitted a person."""
    words = Errand.objects.filter(
        workforce=workforce, surrogate_id=surrogate_id, kind__in=[ErrandKind.GRANT, ErrandKind.REVOKE]
    )
    return words.order_by("-pk").first()
