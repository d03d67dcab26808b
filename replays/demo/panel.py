"""A finished campaign of relevance labels for `make demo`: a synthetic panel answers, a synthetic expert decides.

The synthetic people use the same services as people sent by a panel: a visit, some items, a list of the panel. Their
clocks are simulated, so three days of work are created at once.
"""

import heapq
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts.models import Role, Surrogate, User
from accounts.selectors import consent_text_current
from accounts.services import membership_grant
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create, campaign_move
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.management.campaigns import launch_here
from annotation.models import Campaign, CampaignState
from annotation.tasktypes.antique.answers import STAGE
from annotation.tasktypes.labels import LABEL
from jobs.services import jobs_run_due
from quality.dashboard.services import quality_numbers_refresh
from quality.examination.services import examine_request
from quality.experts.services.inspections import inspection_decide
from quality.experts.services.opinions import opinion_give
from quality.models import Case, CaseState, Inspection, InspectionVerdict, Review, ReviewState
from quality.people.services.reviews import review_decide
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from replays.demo.people import CROWD, HARD_SHARE, person_of, world_of
from replays.demo.relevance import import_keys, import_pairs
from replays.demo.seed import PEOPLE
from simulation.people import Person
from simulation.reading.relevance import LABELS
from simulation.world import KnownWorld, plain
from workforces.kinds.base import Arrival
from workforces.models import Ticket, TicketState, Workforce
from workforces.services.tickets import ticket_answer, ticket_claim, ticket_open
from workforces.services.visits import visit_end, visitor_consent
from workforces.services.workforces import workforce_add

SLUG, SEED, PAIRS = "demo-relevance-finished", 2020, 64
MOST_VISITS = 400  # a bound: far more than the campaign takes
TERMS = {
    "reward_cents": 96,
    "items_per_ticket": 8,
    "floor_cents_per_hour": 1200,
    "code_completed": "C0MPLETE",
    "code_screened_out": "SCREENED",
    "code_nothing_left": "NOTHING",
}
# Far more gold than ANTIQUE's 3%: with some twenty items a person, no honest rule could decide on less.
POLICY = Policy(gold_first=5, gold_first_items=12, gold_rate=0.15, gold_most_exposures=60)


@dataclass(order=True)
class Panelist:
    """A person whom the panel sends repeatedly; ``at`` is the time of their next visit."""

    at: datetime
    number: int
    person: Person = field(compare=False)
    world: KnownWorld = field(compare=False)
    chance: random.Random = field(compare=False)
    visits: int = field(default=0, compare=False)

    def label(self, content: dict[str, Any]) -> int:
        """Return the label that this person chooses for a pair."""
        question, answer = content["question_text"], content["answer_text"]
        place = self.person.choose(plain(f"{question} {answer}"), self.world.pair(question, answer).said)
        return LABELS[place]

    @property
    def is_careless(self) -> bool:
        """Return whether this person answers without reading."""
        return self.person.care < 0.5

    def seconds(self) -> float:
        """Return the seconds that this person looks at a pair: very few for careless people."""
        median = 6.0 if self.is_careless else 26.0
        return round(self.chance.lognormvariate(0, 0.45) * median, 1)


def make_panel(*, now: datetime, stderr: Any) -> None:
    """Have a synthetic panel label the pairs. The demo loads the result from an archive."""
    admin = User.objects.get(email=PEOPLE["admin"])
    campaign = _campaign(admin, now - timedelta(days=4), stderr)
    workforce = workforce_add(campaign=campaign, kind="link", terms=TERMS, actor_id=admin.surrogate_id, now=now)
    people = _panelists(now - timedelta(days=3))
    expert = Surrogate.objects.create().pk
    heapq.heapify(people)
    for _ in range(MOST_VISITS):
        if not people:
            break
        panelist = heapq.heappop(people)
        if _visit(workforce, panelist):
            heapq.heappush(people, panelist)
        _decide(campaign, admin.surrogate_id, expert, panelist)
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=admin.surrogate_id, now=now)
    numbers_refresh(campaign=campaign, now=now)
    quality_numbers_refresh(campaign=campaign, now=now)


def _campaign(admin: User, now: datetime, stderr: Any) -> Campaign:
    campaign = campaign_create(
        slug=SLUG,
        title="Answer relevance, labeled by a synthetic panel",
        task_type="antique",
        seed=SEED,
        splits=[NewSplit("train", 3)],
        group_by="question",
        created_by=admin,
        is_synthetic=True,
        now=now,
        consent=NewConsent("Trying Quorate out.", "Your answers and how long they take.", "whoever started this demo"),
    )
    policy_publish(campaign=campaign, policy=POLICY, actor_id=admin.surrogate_id, now=now)
    import_keys(campaign, admin.surrogate_id, now)
    import_pairs(campaign, PAIRS, stderr)
    launch_here(campaign, stderr)
    with transaction.atomic():
        for name, role in (("rosa", Role.RESEARCHER), ("eva", Role.EXPERT), ("finn", Role.EXPERT)):
            user = User.objects.get(email=PEOPLE[name])
            membership_grant(user=user, scope_id=campaign.pk, role=role, actor_id=None, now=now)
    campaign.refresh_from_db()
    return campaign


def _panelists(begin: datetime) -> list[Panelist]:
    world, people = world_of(HARD_SHARE, SEED), []
    for number, care in enumerate(CROWD):
        chance = random.Random(f"{SEED} panel {number}")  # noqa: S311  a simulation, not a secret
        # The careless come first and do most, so that in every run there is work of theirs to be found.
        at = begin + timedelta(hours=chance.uniform(6, 30) if care else chance.uniform(0, 1))
        people.append(Panelist(at, number, person_of(SEED, number, care), world, chance))
    return people


def _visit(workforce: Workforce, panelist: Panelist) -> bool:
    """Simulate a person's visit with some answers; return whether the person will visit again."""
    panelist.visits += 1
    arrival = Arrival(worker=f"panel-{panelist.number:02}", remote_id=f"visit-{panelist.visits:03}", is_signed=True)
    text = consent_text_current(workforce.campaign_id)
    assert text is not None
    visitor_consent(workforce=workforce, arrival=arrival, text_id=text.pk, now=panelist.at)
    ticket = ticket_open(workforce=workforce, arrival=arrival, found=None, now=panelist.at)
    while ticket.state == TicketState.OPEN:
        claim = ticket_claim(ticket=ticket, now=panelist.at)
        if claim.assignment is None:
            visit_end(ticket=ticket, ran_out=True, now=panelist.at)
            break
        seconds = panelist.seconds()
        panelist.at += timedelta(seconds=seconds)
        label = panelist.label(claim.assignment.item.content)
        ticket = ticket_answer(
            ticket=ticket,
            assignment_id=claim.assignment.pk,
            stage=STAGE,
            version=claim.assignment.draft_version,
            sent={"label": str(label), "active_seconds": seconds},
            now=panelist.at,
        )
    panelist.at += timedelta(hours=1 if panelist.is_careless else panelist.chance.uniform(1, 9))
    return Ticket.objects.filter(pk=ticket.pk, state=TicketState.SUBMITTED, outcome="completed").exists()


def _decide(campaign: Campaign, manager: UUID, expert: UUID, panelist: Panelist) -> None:
    """Run quality control, and play the manager and the expert."""
    now = panelist.at
    examine_request(campaign_id=campaign.pk, now=now)
    _run_jobs()
    for review in Review.objects.filter(campaign=campaign, state=ReviewState.OPEN):
        review_decide(
            review=review,
            suspend=True,
            refuse_pay=False,
            actor_id=manager,
            now=now,
            reason="The answers to questions with an obvious label were mostly wrong.",
        )
    for case in Case.objects.filter(campaign=campaign, state=CaseState.OPEN):
        label = panelist.chance.choice((2, 3))
        opinion_give(
            case=case, surrogate_id=expert, said={LABEL: label}, justification="Read twice; in between.", now=now
        )
    for inspection in Inspection.objects.filter(campaign=campaign, verdict="").select_related("annotation"):
        # Careless work was seen by the gold checks; what is left reads well, but for a few.
        found = InspectionVerdict.DEBATABLE if panelist.chance.random() < 0.1 else InspectionVerdict.GOOD
        inspection_decide(inspection=inspection, verdict=found, exclude=False, actor_id=manager, now=now)
    _run_jobs()


def _run_jobs() -> None:
    """Run the jobs that are due, and the jobs that they make due."""
    for _ in range(20):
        if not jobs_run_due():
            return
