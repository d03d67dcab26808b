"""The whole ANTIQUE process, run by a synthetic crowd over the real protocol.

The platform, its job worker and the marketplace are processes of their own; the crowd knows only their pages.
This process plays the manager and the expert, through the same services as their pages.
"""

import random
import time
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.db import close_old_connections, connection
from django.utils import timezone

from accounts.models import Surrogate
from annotation.models import ORDINARY, Annotation, AnnotationState, Campaign, CampaignState, Item
from annotation.services.campaigns import campaign_move
from annotation.services.numbers import numbers_refresh
from annotation.tasktypes.labels import LABEL
from console.demo.stage import Plan, campaign_of, crowd_at_work, services_of
from console.ensemble import Ensemble
from console.settling import Stuck, settle
from console.terminals import Say
from quality.models import Case, Inspection, InspectionVerdict, Review, Verdict
from quality.rules.policy import Policy
from quality.selectors.summary import summary_of
from quality.services.inspections import inspection_decide
from quality.services.opinions import opinion_give
from quality.services.people import review_decide
from workforces.models import Appeal, Errand, ErrandKind, ErrandState, Posting, Ticket, TicketState
from workforces.services.appeals import appeal_decide, appeal_open
from workforces.services.pay import bonus_grant

# Far more gold than ANTIQUE's 3 %: with some twenty items a person, no honest rule could decide on less.
POLICY = Policy(gold_first=5, gold_first_items=12, gold_rate=0.15, gold_most_exposures=60)


def run(plan: Plan, say: Say) -> dict[str, Any]:
    """Run the whole process and return what it came to.

    Raises
    ------
    Stuck
    """
    campaign = campaign_of(plan, POLICY, "antique")
    with services_of(campaign, plan, say) as services:
        deadline = time.monotonic() + plan.seconds
        with crowd_at_work(services, campaign, plan, say):
            _manage(campaign, services, plan, deadline, say)
        _settle(campaign, deadline, say)
        books = services.books(campaign.slug)
    numbers_refresh(campaign=campaign, now=timezone.now())
    return _result(campaign, plan, books)


def _manage(campaign: Campaign, services: Ensemble, plan: Plan, deadline: float, say: Say) -> None:
    """Play the manager and the expert until every pair has a verdict; kill the worker as often as planned."""
    chance = random.Random(plan.seed)  # noqa: S311  a simulation
    manager, expert = Surrogate.objects.create().pk, Surrogate.objects.create().pk
    pairs = Item.objects.filter(campaign=campaign, batch__purpose__in=ORDINARY).count()
    kills = [chance.uniform(0.02, 0.95) * 3 * pairs for _ in range(plan.kills)]  # in answers
    said = -1
    while (done := Verdict.objects.filter(campaign=campaign, superseded_at=None).count()) < pairs:
        if time.monotonic() > deadline:
            raise Stuck(f"{done} of {pairs} pairs have a verdict")
        if services.worker is not None and services.worker.poll() is not None:
            raise Stuck("the job worker ended")
        if kills and Annotation.objects.filter(campaign=campaign).count() >= min(kills):
            kills.remove(min(kills))
            services.kill_worker()
            say("killed the job worker")
        _decide(campaign, manager, expert, chance)
        if done // 16 > said:
            said = done // 16
            say(f"{done} of {pairs} pairs have a verdict")
        close_old_connections()
        time.sleep(chance.uniform(0.1, 0.6))
    for _ in kills:  # the rest while people are being paid
        services.kill_worker()
        say("killed the job worker")
        time.sleep(chance.uniform(0.3, 1.5))


def _decide(campaign: Campaign, manager: UUID, expert: UUID, chance: random.Random) -> None:
    """Decide what waits: reviews, cases, some inspections."""
    now = timezone.now()
    for review in Review.objects.filter(campaign=campaign, state="open"):
        refuse = not Review.objects.filter(campaign=campaign, refuses_pay=True).exists()
        review_decide(
            review=review, suspend=True, refuse_pay=refuse, actor_id=manager, now=now,
            reason="The answers to questions with an obvious label were mostly wrong.",
        )  # fmt: skip
    for case in Case.objects.filter(campaign=campaign, state="open"):
        label = chance.choice((2, 3))
        opinion_give(
            case=case, surrogate_id=expert, said={LABEL: label}, justification="Read twice; in between.", now=now
        )
    for inspection in Inspection.objects.filter(campaign=campaign, verdict="")[:3]:
        inspection_decide(
            inspection=inspection, verdict=InspectionVerdict.GOOD, exclude=False, actor_id=manager, now=now
        )


def _settle(campaign: Campaign, deadline: float, say: Say) -> None:
    """Close the campaign, hear an appeal, grant a bonus, and wait until all is paid."""
    now, manager = timezone.now(), Surrogate.objects.create().pk
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=manager, now=now)
    best = Ticket.objects.filter(workforce__campaign=campaign, state=TicketState.APPROVED).order_by("pk").first()
    if best is not None:
        bonus_grant(
            ticket=best, cents=50, reason="Careful work on hard pairs", actor_id=manager, now=now,
            token=f"careful-{best.pk}",
        )  # fmt: skip
    say("closed; waiting until everybody is paid")
    settle(campaign, deadline, partial(_appeal, campaign, manager))


def _appeal(campaign: Campaign, manager: UUID) -> None:
    """Let one refusal be looked at again, once."""
    refused = Ticket.objects.filter(workforce__campaign=campaign, state=TicketState.REFUSED).order_by("pk").first()
    if refused is None or Appeal.objects.filter(campaign=campaign).exists():
        return
    appeal = appeal_open(ticket=refused, text="I read this one carefully.", now=timezone.now())
    appeal_decide(appeal=appeal, grant=True, answer="This answer was right.", actor_id=manager, now=timezone.now())


def _result(campaign: Campaign, plan: Plan, books: dict[str, Any]) -> dict[str, Any]:
    postings = Posting.objects.filter(workforce__campaign=campaign).exclude(hit_id="")
    confirmed = Errand.objects.filter(workforce__campaign=campaign, state=ErrandState.CONFIRMED)
    kinds = {kind: confirmed.filter(kind=kind).count() for kind in ErrandKind.values}
    failed = Errand.objects.filter(workforce__campaign=campaign, state=ErrandState.FAILED)
    connection.close()
    return {
        "campaign": campaign.slug, "seed": plan.seed, "kills": plan.kills, "summary": asdict(summary_of(campaign)),
        "gold_share": POLICY.gold_rate, "postings": postings.count(), "hits": books["hits"], "errands": kinds,
        "failed_errands": list(failed.values_list("kind", "error")), "books": books,
        "superseded": Verdict.objects.filter(campaign=campaign).exclude(superseded_at=None).count(),
        "reopened": Annotation.objects.filter(campaign=campaign, state=AnnotationState.EXCLUDED).count(),
    }  # fmt: skip
