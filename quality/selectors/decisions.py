"""What waits for a person's decision, a page of each kind."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.models import Campaign, Participation
from quality.models import Case, CaseState, Flag, Inspection, Review, ReviewState, Unexamined
from quality.selectors.people import names_of
from workforces.models import Appeal, AppealState, Errand, ErrandKind, ErrandState, Ticket, TicketState

MOST = 50


def _appealed(campaign: Campaign) -> QuerySet[Review]:
    """Return the suspensions against which an appeal waits."""
    suspended = Review.objects.filter(campaign=campaign, state=ReviewState.SUSPENDED)
    return suspended.filter(appealed_at__isnull=False, appeal_decided_at=None)


def waiting_of(campaign: Campaign) -> dict[str, int]:
    """Return how much of each kind waits for a decision: for jobs, since it counts."""
    appealed = _appealed(campaign)
    counts = {
        "reviews": Review.objects.filter(campaign=campaign, state=ReviewState.OPEN).count(),
        "appeals": appealed.count() + Appeal.objects.filter(campaign=campaign, state=AppealState.OPEN).count(),
        "flags": Flag.objects.filter(campaign=campaign, is_listed=None).count(),
        "errands": Errand.objects.filter(workforce__campaign=campaign, state=ErrandState.FAILED).count(),
        "cases": Case.objects.filter(campaign=campaign, state=CaseState.OPEN).count(),
        "inspections": Inspection.objects.filter(campaign=campaign, verdict="").count(),
    }
    return {what: count for what, count in counts.items() if count}


def decisions_of(campaign: Campaign) -> dict[str, Any]:
    """Return what waits: each list holds at most fifty, oldest first."""
    errands = Errand.objects.filter(workforce__campaign=campaign)
    places = Participation.objects.filter(campaign=campaign, surrogate=OuterRef("surrogate"))
    opened = Review.objects.filter(campaign=campaign, state=ReviewState.OPEN)
    reviews = list(opened.annotate(standing=Subquery(places.values("standing")[:1])).order_by("decide_by")[:MOST])
    appealed = _appealed(campaign)
    suspended = list(appealed.order_by("appealed_at", "pk")[:MOST])
    unmatched = list(
        Ticket.objects.filter(workforce__campaign=campaign)
        .filter(Q(state=TicketState.UNMATCHED) | Q(state=TicketState.APPROVED, problem__gt=""))
        .exclude(
            Exists(
                errands.filter(
                    ticket=OuterRef("pk"), kind=ErrandKind.REJECT, state__in=[ErrandState.DUE, ErrandState.SENDING]
                )
            )
        )
        .order_by("submitted_at", "pk")[:MOST]
    )
    undoable = errands.filter(state=ErrandState.DUE, decided_by__isnull=False)
    undo = list(undoable.order_by("due_at", "pk")[:MOST])
    appeals = list(
        Appeal.objects.filter(campaign=campaign, state=AppealState.OPEN).select_related("ticket").order_by("pk")[:MOST]
    )
    about = [row.surrogate_id for row in [*reviews, *suspended]] + [row.surrogate_id for row in unmatched]
    names = names_of([*about, *(row.surrogate_id for row in undo), *(row.ticket.surrogate_id for row in appeals)])
    unexamined = Unexamined.objects.filter(campaign=campaign).select_related("annotation__item")
    lists = {
        "reviews": [(row, names.get(row.surrogate_id, "")) for row in reviews],
        "suspended": [(row, names.get(row.surrogate_id, "")) for row in suspended],
        "unmatched": [(row, names.get(row.surrogate_id, "")) for row in unmatched],
        "undoable": [(row, names.get(row.surrogate_id, "")) for row in undo if row.surrogate_id],
        "appeals": [(row, names.get(row.ticket.surrogate_id, "")) for row in appeals],
        "failed": list(errands.filter(state=ErrandState.FAILED).order_by("pk")[:MOST]),
        "flags": list(Flag.objects.filter(campaign=campaign, is_listed=None).order_by("pk")[:MOST]),
        "unexamined": list(unexamined.order_by("since", "pk")[:MOST]),
    }
    return {
        **lists,
        "is_empty": not any(lists.values()),
        "has_cases": Case.objects.filter(campaign=campaign, state=CaseState.OPEN).exists(),
        "has_inspections": Inspection.objects.filter(campaign=campaign, verdict="").exists(),
    }
