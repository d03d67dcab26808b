"""Queries on how people come to a campaign, and on what they may see about themselves."""

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from annotation.models import Campaign, Participation, Standing, StandingChange
from annotation.people.selectors.standing import notice_for
from workforces.kinds.base import terms_from
from workforces.kinds.registry import KINDS
from workforces.models import Errand, ErrandKind, ErrandState
from workforces.money import fee_cents


def standing_of(*, campaign: Campaign, surrogate_id: UUID) -> dict[str, Any]:
    """Return a person's participation in a campaign and, unless their standing is active, the notice about it."""
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()
    if place is None or place.standing == Standing.ACTIVE:
        return {"place": place, "notice": ""}
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    last = changes.order_by("-pk").first()
    because = last.because if last else {}
    notice = notice_for(Standing(place.standing), because)
    return {"place": place, "notice": notice}


def refusal_reason() -> Subquery:
    """Return, for a query of tickets, the manager's reason for the refusal in force."""
    refusals = Errand.objects.filter(ticket=OuterRef("pk"), kind=ErrandKind.REJECT).exclude(state=ErrandState.UNDONE)
    return Subquery(refusals.order_by("-pk").values("text")[:1])


def answer_cents(campaign: Campaign) -> float:
    """Return the cost of one more answer, including fees, in the most expensive workforce of a campaign."""
    found = 0.0
    for row in campaign.workforces.order_by("pk"):
        terms = terms_from(KINDS[row.kind], row.terms)
        fee = fee_cents(terms.reward_cents, share=terms.fee_share)
        found = max(found, (terms.reward_cents + fee) / terms.items_per_ticket)
    return found
