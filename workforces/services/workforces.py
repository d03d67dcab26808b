"""Adding workforces to campaigns and changing them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.audit import record
from annotation.models import Campaign
from workforces.kinds.registry import KINDS
from workforces.models import Workforce
from workforces.services.terms import terms_check

BOOKS = "workforces.reconcile"  # the kind of the job that compares the books


def workforce_add(
    *,
    campaign: Campaign,
    kind: str,
    terms: dict[str, Any],
    actor_id: UUID | None,
    now: datetime,
    source: str = "",
) -> Workforce:
    """Add a workforce to a campaign, or give an existing one new terms; existing postings keep their terms.

    ``source`` is the namespace of its people's names; by default, the kind determines it.

    Raises
    ------
    ValueError
        The kind is unknown or the terms are invalid.
    """
    terms_check(kind, terms)
    source = source or KINDS[kind].source(campaign.pk)
    with transaction.atomic():
        before = Workforce.objects.filter(campaign=campaign, kind=kind).first()
        if before is not None:
            KINDS[kind].check_change(workforce=before, terms=terms)
        row, _ = Workforce.objects.update_or_create(
            campaign=campaign,
            kind=kind,
            defaults={"terms": terms, "is_active": True},
            create_defaults={"terms": terms, "source": source[:100], "created_at": now},
        )
        record(
            action="workforce_add",
            subject=row,
            now=now,
            actor_id=actor_id,
            scope_id=campaign.pk,
            kind=kind,
            terms=terms,
        )
    return row
