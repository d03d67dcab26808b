"""A stage for whole processes: a marketplace, a platform with its job worker, and a synthetic crowd, as processes apart."""

import json
import os
import random
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotation.management.campaigns import launch_here
from annotation.models import Annotation, AnnotationState, Campaign
from annotation.services.campaigns import ConsentPlan, SplitPlan, campaign_create
from console.demo.relevance import CONTENT, import_keys, import_pairs
from console.serving import (
    ROOT,
    any_port,
    marketplace_environment,
    start_child,
    stop_children,
    wait_until_up,
    web_command,
)
from quality.rules.policy import Policy
from quality.services.policies import policy_publish
from simulation.crowd import Outcome, SimulatedWorker, WorkerProfile
from workforces.models import Errand, ErrandState, Posting, PostingState, Ticket, TicketState
from workforces.services.workforces import workforce_add

TERMS = {
    "reward_cents": 12, "training_bonus_cents": 25, "has_fees": True, "qualification": "own", "undo_seconds": 0,
    "approve_after_seconds": 20, "stale_seconds": 6, "assignment_seconds": 900,
}  # fmt: skip
PACE = {
    "MTURK_ROUND_SECONDS": "0.5", "MTURK_PULL_SECONDS": "0.5", "MTURK_RETRY_SECONDS": "1",
    "MTURK_REQUESTS_PER_SECOND": "0", "QUORATE_JOB_LEASE_SECONDS": "5", "MARKETPLACE_SWEEP_SECONDS": "0.5",
}  # fmt: skip
CAREFUL = WorkerProfile(care=0.95)
MIDDLING = WorkerProfile(care=0.8)
CARELESS = WorkerProfile(care=0.05, is_random=True)
CROWD = (CAREFUL,) * 8 + (MIDDLING,) * 2 + (CARELESS,) * 2
HARD_SHARE = 0.3  # pairs on which even careful people choose any label
Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to run: how many pairs, by which seed, how often to kill the job worker, and for how long at most."""

    seed: int
    pairs: int = 64
    kills: int = 0
    is_unanimous: bool = False
    seconds: int = 900


class Stuck(RuntimeError):
    """The run did not come to its end in time."""


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


class Quiet:
    """A terminal that shows nothing."""

    def write(self, text: str) -> None:
        """Drop it."""

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Say no."""
        return False


class Services:
    """The processes of a run, and how to ask them."""

    def __init__(self, environment: dict[str, str], market_environment: dict[str, str], market_url: str) -> None:
        self.environment, self.market_environment, self.market_url = environment, market_environment, market_url
        self.worker: subprocess.Popen[bytes] | None = None
        self.children: list[subprocess.Popen[bytes]] = []

    def start_worker(self) -> None:
        """Start the job worker (again)."""
        self.worker = start_child([*_MANAGE, "worker", "--poll", "0.2", "--tick", "0.5"], self.environment)

    def kill_worker(self) -> None:
        """Kill the job worker as a power cut would, and start another."""
        assert self.worker is not None
        self.worker.kill()
        self.worker.wait()
        self.start_worker()

    def books(self, campaign: Campaign) -> dict[str, Any]:
        """Return the comparison of our books with the marketplace's."""
        done = subprocess.run(  # noqa: S603  our own command
            [*_MANAGE, "reconcile", campaign.slug, "--json"], cwd=ROOT, env=self.environment, capture_output=True,
            text=True, check=False, timeout=300,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        account = _command(self.market_environment, "marketplace_requester", campaign.slug, "--json")
        cents = {name: round(float(account[name]) * 100) for name in ("deposited", "available", "held", "paid", "fees")}
        return {**found, "account": cents}


_MANAGE = [sys.executable, str(ROOT / "manage.py")]


def _command(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S603  our own commands
        [*_MANAGE, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    made: dict[str, Any] = json.loads(done.stdout)
    return made


@contextmanager
def services_of(campaign: Campaign, plan: Plan, say: Say) -> Iterator[Services]:
    """Start marketplace, platform and job worker; end them, and only them, afterwards."""
    market_port, web_port = any_port(), any_port()
    market_url = f"http://worker.localhost:{market_port}"
    market_environment = marketplace_environment() | PACE | {
        "MARKETPLACE_URL": market_url, "MARKETPLACE_CONTENT_URL": f"http://content.localhost:{market_port}",
        "MARKETPLACE_API_URL": f"http://127.0.0.1:{market_port}", "MARKETPLACE_WORKER_RATE": "1000",
        "MARKETPLACE_DATABASE_URL": f"sqlite:///{settings.DATA_DIR}/{campaign.slug}-marketplace.sqlite3",
    }  # fmt: skip
    serving = [*_MANAGE, "marketplace_serve", "--quiet", "--bind", f"127.0.0.1:{market_port}"]
    children = [start_child(serving, market_environment)]
    services = None
    try:
        _wait_for(children[0], market_port)
        requester = _command(
            market_environment, "marketplace_requester", campaign.slug, "--deposit", "500", "--sign-frames", "--json"
        )
        environment = os.environ | PACE | {
            "PLATFORM_URL": f"http://localhost:{web_port}", "MTURK_ENDPOINT_URL": requester["endpoint_url"],
            "MTURK_ACCESS_KEY_ID": requester["aws_access_key_id"], "MTURK_SUBMIT_URLS": market_url,
            "MTURK_SECRET_ACCESS_KEY": requester["aws_secret_access_key"],
            "MTURK_FRAME_SECRET": requester["frame_secret"],
        }  # fmt: skip
        services = Services(environment, market_environment, market_url)
        children.append(start_child(web_command(f"127.0.0.1:{web_port}"), environment))
        _wait_for(children[1], web_port)
        now = timezone.now()
        terms = TERMS | ({"approve_after_seconds": 2} if plan.is_unanimous else {})  # nobody will be refused
        workforce_add(
            campaign=campaign, kind="mturk", terms=terms, actor_id=None, now=now, endpoint_url=requester["endpoint_url"]
        )
        services.start_worker()
        say(f"the marketplace is at {market_url}, the platform at {environment['PLATFORM_URL']}")
        yield services
    finally:
        stop_children([*children, *([services.worker] if services and services.worker else [])])


def _wait_for(child: subprocess.Popen[bytes], port: int) -> None:
    """Wait until a child answers: it, and not another that had the port before."""
    wait_until_up(f"127.0.0.1:{port}")
    if child.poll() is not None:
        raise Stuck(f"a server could not be started on port {port}")


@contextmanager
def crowd_at_work(services: Services, campaign: Campaign, plan: Plan, say: Say) -> Iterator[None]:
    """Let the crowd work until the block ends."""
    stop, crowd = threading.Event(), _crowd_of(services, campaign, plan, say)
    threads = [threading.Thread(target=_work, args=(crowd[part::4], stop)) for part in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=120)


def _crowd_of(services: Services, campaign: Campaign, plan: Plan, say: Say) -> list[SimulatedWorker]:
    """Return workers with accounts; what they believe of each pair is drawn by the seed."""
    truth = truth_of()
    crowd = []
    for number, profile in enumerate(CROWD[:5] if plan.is_unanimous else CROWD):
        email, password = f"w{number}-{campaign.slug}@crowd.example", secrets.token_hex(8)
        _command(services.market_environment, "marketplace_worker", "--email", email, "--password", password, "--json")
        chosen = WorkerProfile(care=1.0, skips=0.0) if plan.is_unanimous else profile
        beliefs = truth if plan.is_unanimous else beliefs_of(truth, plan.seed, number)
        crowd.append(SimulatedWorker(services.market_url, email, password, chosen, beliefs, plan.seed))
    say(f"{len(crowd)} workers have signed up")
    return crowd


def truth_of() -> dict[tuple[str, str], int]:
    """Return the true label of each question and answer that the crowd can meet."""
    truth = {}
    for name in ("antique_pairs.jsonl", "antique_gold.jsonl"):
        for line in (CONTENT / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            truth[row["question"], row["answer"]] = row.get("true_label") or row["accepted"][0]
    return truth


def beliefs_of(truth: dict[tuple[str, str], int], seed: int, number: int) -> dict[tuple[str, str], int]:
    """Return what one worker takes for true: on hard pairs, anything."""
    gold = {
        (row["question"], row["answer"])
        for row in map(json.loads, (CONTENT / "antique_gold.jsonl").read_text(encoding="utf-8").splitlines())
    }
    hard, own = random.Random(f"{seed} hard"), random.Random(f"{seed} {number}")  # noqa: S311  a simulation
    return {
        pair: own.choice((1, 2, 3, 4)) if pair not in gold and hard.random() < HARD_SHARE else label
        for pair, label in truth.items()
    }


def _work(crowd: list[SimulatedWorker], stop: threading.Event) -> None:
    """Let some of the crowd work in turns until the end."""
    for worker in crowd:
        worker.log_in()
    while not stop.is_set():
        did = [worker.work() for worker in crowd if not stop.is_set()]
        if Outcome.HANDED_IN not in did:
            stop.wait(0.5)


def settle(campaign: Campaign, deadline: float, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Wait until all work of a closed campaign is paid."""
    settled = (TicketState.APPROVED, TicketState.REFUSED, TicketState.LAPSED)
    while True:
        meanwhile()
        tickets = Ticket.objects.filter(workforce__campaign=campaign).exclude(state__in=settled)
        # What was accepted and given back at the marketplace is nobody's any more.
        given_back = tickets.filter(state=TicketState.OPEN, work=None)
        errands = Errand.objects.filter(workforce__campaign=campaign, state__in=[ErrandState.DUE, ErrandState.SENDING])
        waiting = tickets.count() - given_back.count()
        live = [PostingState.WANTED, PostingState.OPEN, PostingState.ENDING]
        postings = Posting.objects.filter(workforce__campaign=campaign, state__in=live)
        if not (waiting or errands.exists() or _owed(campaign) or postings.exists()):
            return
        if time.monotonic() > deadline:
            raise Stuck(f"{waiting} tickets and {errands.count()} errands are not settled")
        time.sleep(0.5)


def _owed(campaign: Campaign) -> bool:
    return Annotation.objects.filter(campaign=campaign, state=AnnotationState.PROVISIONAL).exists()
