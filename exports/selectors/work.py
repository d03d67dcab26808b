"""Pay and treatment of the people behind a release, at the time of its freeze."""

from typing import Any

from django.db.models import Count, Q, Sum

from annotation.models import INTERNAL, PUBLISHED, Annotation, AnnotationState, Campaign
from quality.models import Review, ReviewState
from quality.people.selectors.pay import wages_of
from workforces.models import Appeal, LedgerEntry, Ticket, TicketState
from workforces.services.terms import terms_of

FEWEST = 5  # people of whom a distribution is told: of fewer it would tell what one of them earned


def fair_work(campaign: Campaign) -> dict[str, Any]:
    """Return pay (from the ledger, in cents), exclusions, refusals and appeals of a campaign, without naming people."""
    money = LedgerEntry.objects.filter(campaign=campaign).aggregate(
        reward=Sum("cents", filter=Q(kind="reward")),
        bonus=Sum("cents", filter=Q(kind="bonus")),
        fee=Sum("fee_cents"),
        people=Count("surrogate", distinct=True),
    )
    wages = wages_of(campaign)
    states = dict(
        Annotation.objects.filter(campaign=campaign)
        .exclude(via=PUBLISHED)
        .values_list("state")
        .annotate(n=Count("pk"))
        .order_by("state")
    )
    appeals = dict(
        Appeal.objects.filter(campaign=campaign).values_list("state").annotate(n=Count("pk")).order_by("state")
    )
    refused = Ticket.objects.filter(workforce__campaign=campaign, state=TicketState.REFUSED).count()
    return {
        "people_paid": money["people"],
        "reward_cents": money["reward"] or 0,
        "bonus_cents": money["bonus"] or 0,
        "fee_cents": money["fee"] or 0,
        "cents_an_hour": {
            clock: {name: wages[key][name] for name in ("p10", "median")}
            for clock, key in (("active", "active"), ("server", "wall"))
            if key in wages and len(wages[key]["all"]) >= FEWEST
        },
        "floor_cents_an_hour": max(
            (terms_of(row).floor_cents_per_hour for row in campaign.workforces.all()), default=0
        ),
        "annotations": {
            state.value: states.get(state.value, 0) for state in AnnotationState if states.get(state.value)
        },
        "by_members": Annotation.objects.filter(campaign=campaign, via=INTERNAL).count(),
        "submissions_refused": refused,
        "appeals": {str(state): n for state, n in appeals.items()},
        "reviews": _reviews(campaign),
    }


def _reviews(campaign: Campaign) -> dict[str, dict[str, int]]:
    """Return how often checks and rules asked a manager first or paused someone, by what the manager decided."""
    found = {name: dict.fromkeys(ReviewState.values, 0) for name in ("asked", "paused")}
    for state, evidence in Review.objects.filter(campaign=campaign).values_list("state", "evidence"):
        if evidence.get("asked"):
            found["asked"][state] += 1
        elif "manager" not in evidence and evidence.keys() & {"score", "passed", "rule"}:
            found["paused"][state] += 1
    return found
