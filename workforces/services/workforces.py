"""How workforces are added to campaigns and changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.audit import record
from annotation.models import Campaign
from workforces.models import Workforce, WorkforceKind
from workforces.services.terms import terms_check


def workforce_add(
    *,
    campaign: Campaign,
    kind: str,
    terms: dict[str, Any],
    actor_id: UUID | None,
    now: datetime,
    endpoint_url: str = "",
) -> Workforce:
    """Add a workforce to a campaign, or give the one that is there new terms; what is posted keeps the old ones.

    ``endpoint_url`` names the marketplace whose people they are; by default the configured one.

    Raises
    ------
    ValueError
        The kind is unknown or the terms are wrong.
    """
    terms_check(kind, terms)
    source = (
        f"mturk {endpoint_url or settings.MTURK_ENDPOINT_URL}"
        if kind == WorkforceKind.MTURK
        else f"{kind} {campaign.pk}"
    )
    with transaction.atomic():
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
