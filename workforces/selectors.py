"""Reading how people come to a campaign, and what they may see of themselves."""

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext as _

from annotation.models import Campaign, Participation, Standing, StandingChange
from jobs.models import Job
from workforces.kinds.base import terms_from
from workforces.kinds.link.kind import placeholders
from workforces.kinds.registry import KINDS
from workforces.models import Errand, ErrandKind, ErrandState, Ticket, TicketState, Workforce, WorkforceKind
from workforces.money import fee_cents

CONFIRM_LIST = "workforces.confirm_list"  # the kind of the job that reads a panel's list
RECONCILE = "workforces.reconcile"  # the kind of the job that compares the books
MOST_WAITING = 10_000  # counted no further on a page


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
        return _("Something about your recent work stood out. A manager looks at it; what you handed in is kept.")
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


def workforces_shown(campaign: Campaign) -> list[Workforce]:
    """Return a campaign's workforces; those by a link with the visits that wait for a list, and the last lists."""
    rows = list(campaign.workforces.order_by("pk"))
    for row in rows:
        if row.kind == WorkforceKind.LINK:
            waiting = Ticket.objects.filter(workforce=row, state=TicketState.ANSWERED)
            lists = Job.objects.filter(scope_id=campaign.pk, kind=CONFIRM_LIST).order_by("-created_at")
            row.placeholders = placeholders(terms_from(KINDS[row.kind], row.terms))  # type: ignore[attr-defined]
            row.waiting = len(waiting.values_list("pk")[:MOST_WAITING])  # type: ignore[attr-defined]
            row.lists = list(lists[:3])  # type: ignore[attr-defined]
    return rows


def refusal_reason() -> Subquery:
    """Return, for a query of tickets, what a manager gave as the reason of the refusal in force."""
    refusals = Errand.objects.filter(ticket=OuterRef("pk"), kind=ErrandKind.REJECT).exclude(state=ErrandState.UNDONE)
    return Subquery(refusals.order_by("-pk").values("text")[:1])


def answer_cents(campaign: Campaign) -> float:
    """Return what one more answer costs, fees included: the dearest way by which people come to a campaign."""
    found = 0.0
    for row in campaign.workforces.order_by("pk"):
        terms = terms_from(KINDS[row.kind], row.terms)
        fee = fee_cents(terms.reward_cents, has_fees=getattr(terms, "has_fees", False))
        found = max(found, (terms.reward_cents + fee) / terms.items_per_ticket)
    return found
