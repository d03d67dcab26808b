"""Reading how people come to a campaign, and what they may see of themselves."""

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from annotation.models import Campaign, Participation, Standing, StandingChange
from workforces.kinds.base import terms_from
from workforces.kinds.registry import KINDS
from workforces.models import Errand, ErrandKind, ErrandState
from workforces.money import fee_cents


def standing_of(*, campaign: Campaign, surrogate_id: UUID) -> dict[str, Any]:
    """Return a person's place in a campaign and, when their standing is not the usual one, what they read about it."""
    place = Participation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).first()
    if place is None or place.standing == Standing.ACTIVE:
        return {"place": place, "notice": ""}
    changes = StandingChange.objects.filter(campaign=campaign, surrogate_id=surrogate_id)
    last = changes.order_by("-pk").first()
    because = last.because if last else {}
    notice = notice_for(Standing(place.standing), because)
    return {"place": place, "notice": notice}


def notice_for(standing: Standing, because: dict[str, Any]) -> str:
    """Return what a person reads about a change of their standing: the reason given, if there is one."""
    if because.get("reason"):
        return str(because["reason"])
    if "rule" in because:
        return _("Something about your recent work stood out. A manager is reviewing it. Submitted work is kept.")
    return notice_of(standing)


def notice_of(standing: Standing) -> str:
    """Return what a person reads whose standing the rules moved."""
    if standing == Standing.WARNED:
        return _("Several of your answers to known questions were wrong. Please read the guidelines again.")
    if standing == Standing.PAUSED:
        return _(
            "Many questions with known answers were answered wrong or not at all, so you get no new work until a manager has "
            "looked. "
            "Without a decision in time, what you handed in is paid."
        )
    return _("A manager has suspended you from this campaign.")


def refusal_reason() -> Subquery:
    """Return, for a query of tickets, what a manager gave as the reason of the refusal in force."""
    refusals = Errand.objects.filter(ticket=OuterRef("pk"), kind=ErrandKind.REJECT).exclude(state=ErrandState.UNDONE)
    return Subquery(refusals.order_by("-pk").values("text")[:1])


def answer_cents(campaign: Campaign) -> float:
    """Return what one more answer costs, fees included: the dearest way by which people come to a campaign."""
    found = 0.0
    for row in campaign.workforces.order_by("pk"):
        terms = terms_from(KINDS[row.kind], row.terms)
        fee = fee_cents(terms.reward_cents, has_fees=terms.has_fees)
        found = max(found, (terms.reward_cents + fee) / terms.items_per_ticket)
    return found
