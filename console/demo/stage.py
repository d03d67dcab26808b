"""A stage for whole processes: a marketplace, a platform with its job worker, and a synthetic crowd, as processes apart."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils import timezone

from annotation.management.campaigns import launch_here
from annotation.models import Campaign
from annotation.services.campaigns import ConsentPlan, SplitPlan, campaign_create
from config.secrets import new_password
from console.demo.relevance import CONTENT, import_keys, import_pairs
from console.ensemble import Ensemble, ensemble_of
from console.terminals import Quiet, Say
from quality.rules.policy import Policy
from quality.services.policies import policy_publish
from simulation.crowd import Crowd
from simulation.doors.market import MarketWorker
from simulation.people import Habits, Person
from simulation.reading.relevance import LABELS
from simulation.world import KnownWorld, plain
from workforces.services.workforces import workforce_add

TERMS = {
    "reward_cents": 12, "training_bonus_cents": 25, "has_fees": True, "qualification": "own", "undo_seconds": 0,
    "approve_after_seconds": 20, "stale_seconds": 6, "assignment_seconds": 900,
}  # fmt: skip
CROWD = (0.95,) * 8 + (0.8,) * 2 + (0.0,) * 2  # how often each reads with care; otherwise any label
HARD_SHARE = 0.3  # pairs on which even careful people choose any label


@dataclass(frozen=True)
class Plan:
    """What to run: how many pairs, by which seed, how often to kill the job worker, and for how long at most."""

    seed: int
    pairs: int = 64
    kills: int = 0
    is_unanimous: bool = False
    seconds: int = 900


def campaign_of(plan: Plan, policy: Policy, name: str) -> Campaign:
    """Return a launched campaign with gold keys and a policy; its name is new in every run."""
    slug, number = f"{name}-{plan.seed}", 1
    while Campaign.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{name}-{plan.seed}-{number}"
    now = timezone.now()
    campaign = campaign_create(
        slug=slug, title="How well does an answer answer?", task_type="antique", splits=[SplitPlan("train", 3)],
        consent=ConsentPlan("Trying Quorate out.", "Your answers and how long they take.", "whoever started this demo"),
        created_by=None, now=now, seed=plan.seed, has_training=True, is_synthetic=True, group_by="question",
        content_warning="Some questions are about private matters.",
    )  # fmt: skip
    policy_publish(campaign=campaign, policy=policy, actor_id=None, now=now)
    import_keys(campaign, None, now)
    import_pairs(campaign, plan.pairs, Quiet())
    launch_here(campaign, Quiet())
    return campaign


@contextmanager
def services_of(campaign: Campaign, plan: Plan, say: Say) -> Iterator[Ensemble]:
    """Start marketplace, platform and job worker, with the campaign's postings at the marketplace."""
    with ensemble_of(campaign.slug, deposit="500") as services:
        terms = TERMS | ({"approve_after_seconds": 2} if plan.is_unanimous else {})  # nobody will be refused
        workforce_add(
            campaign=campaign, kind="mturk", terms=terms, actor_id=None, now=timezone.now(),
            endpoint_url=services.endpoint_url,
        )  # fmt: skip
        services.start_worker()
        say(f"the marketplace is at {services.market_url}, the platform at {services.web_url}")
        yield services


@contextmanager
def crowd_at_work(services: Ensemble, campaign: Campaign, plan: Plan, say: Say) -> Iterator[None]:
    """Let the crowd work until the block ends."""
    crowd = Crowd(_crowd_of(services, campaign, plan, say), seed=plan.seed, threads=4)
    crowd.start()
    try:
        yield
    finally:
        crowd.stop()


def _crowd_of(services: Ensemble, campaign: Campaign, plan: Plan, say: Say) -> list[MarketWorker]:
    """Return workers with accounts; what they say of each pair follows from the seed."""
    world, crowd = world_of(0 if plan.is_unanimous else HARD_SHARE, plan.seed), []
    for number, care in enumerate(CROWD[:5] if plan.is_unanimous else CROWD):
        email, password = f"w{number}-{campaign.slug}@crowd.example", new_password()
        services.market_command("marketplace_worker", "--email", email, f"--password={password}")
        person = person_of(
            plan.seed, number, 1.0 if plan.is_unanimous else care, skips=0 if plan.is_unanimous else 0.01
        )
        crowd.append(MarketWorker(services.market_url, email, password, person, world))
    say(f"{len(crowd)} workers have signed up")
    return crowd


def person_of(seed: int, number: int, care: float, *, skips: float = 0.0) -> Person:
    """Return one of the demo's crowd: who does not read chooses any label."""
    habits = Habits(returns=0.02, abandons=0, skips=skips, twice=0, undoes=0, tabs=0, fatigue=0, drift=0)
    return Person(seed, number, care, np.ones(len(LABELS)) / len(LABELS), habits=habits)


def world_of(hard_share: float, seed: int) -> KnownWorld:
    """Return what is right of the demo's pairs, some of which are so hard that careful people say anything."""
    truth = {(plain(question), plain(answer)): label for (question, answer), label in truth_of().items()}
    gold = {(plain(row["question"]), plain(row["answer"])) for row in _rows("antique_gold.jsonl")}
    chance = random.Random(f"{seed} hard")  # noqa: S311  a simulation
    hard = frozenset(pair for pair in truth if pair not in gold and chance.random() < hard_share)
    return KnownWorld(LABELS, truth, otherwise=3, hard=hard)


def truth_of() -> dict[tuple[str, str], int]:
    """Return the true label of each question and answer that the crowd can meet."""
    rows = (*_rows("antique_pairs.jsonl"), *_rows("antique_gold.jsonl"))
    return {(row["question"], row["answer"]): row.get("true_label") or row["accepted"][0] for row in rows}


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CONTENT / name).read_text(encoding="utf-8").splitlines()]
