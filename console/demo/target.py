"""Votes where the doubt is, run by a synthetic crowd over the real protocol, from the first votes to a printed error.

The manager's budget is small at first; it is raised once it is spent. What votes cannot settle goes to experts; a first audit
says how much the model is to be believed, and a second one measures what came of it.
"""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import close_old_connections, connection
from django.utils import timezone

from accounts.models import Membership, Role, Surrogate, User
from annotation.models import Annotation, Campaign, CampaignState, Item, Slot
from annotation.services.campaigns import campaign_move
from annotation.tasktypes.labels import LABEL
from console.demo.stage import Plan, campaign_of, crowd_at_work, services_of, truth_of
from console.ensemble import Ensemble
from console.settling import Stuck, settle
from console.terminals import Say
from exports.services import release_freeze
from jobs.models import Job
from jobs.services import job_enqueue
from quality.models import Audit, Case, CaseReason, CaseState, Review, TargetSnapshot, Verdict, Wave
from quality.rules.policy import Policy, Process
from quality.rules.target import Stop, Target
from quality.selectors.audits import experts_able, label_error_of
from quality.services.opinions import consensus_reach, opinion_give
from quality.services.people import review_decide
from quality.services.policies import policy_publish
from workforces.models import Errand, ErrandState

FIRST_BUDGET, BUDGET = 100, 20_000  # cents
EXPERTS = 6  # nobody audits what they judged before


def policy_of(budget: int) -> Policy:
    """Return the policy of the run, with a budget in cents."""
    target = Target(error=0.005, budget_cents=budget, most=4)  # strict: forty pairs are few, and the crowd is good
    return Policy(process=Process.TARGET, target=target, gold_first=4, gold_first_items=12, gold_rate=0.05)


def run(plan: Plan, say: Say) -> dict[str, Any]:
    """Run the whole process and return what it came to. The job worker is killed in as many of its phases as planned.

    Raises
    ------
    Stuck
    """
    campaign = campaign_of(plan, policy_of(FIRST_BUDGET), "target")
    with services_of(campaign, plan, say) as services:
        manager = _Manager(campaign, services, plan, say)
        with crowd_at_work(services, campaign, plan, say):
            manager.run()
        campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=manager.surrogate, now=timezone.now())
        settle(campaign, manager.deadline)
        books = services.books(campaign.slug)
    return _result(campaign, manager, books)


class _Manager:
    """Plays the manager and the experts, phase by phase."""

    def __init__(self, campaign: Campaign, services: Ensemble, plan: Plan, say: Say) -> None:
        self.campaign, self.services, self.say = campaign, services, say
        self.kills, self.chance = plan.kills, random.Random(plan.seed)  # noqa: S311  a simulation
        self.deadline = time.monotonic() + plan.seconds
        self.surrogate, self.truth = Surrogate.objects.create().pk, truth_of()
        self.experts = [self._expert(number) for number in range(EXPERTS)]
        self.stops: list[str] = []

    def _expert(self, number: int) -> User:
        user = User.objects.create_user(f"expert{number}-{self.campaign.slug}@crowd.example", None)
        Membership.objects.create(scope_id=self.campaign.pk, user=user, role=Role.EXPERT)
        return user

    def run(self) -> None:
        """Go through the phases; each ends when something is so."""
        self._phase("first votes", lambda: Wave.objects.filter(campaign=self.campaign).exists())
        self._phase("waves until the first budget is spent", lambda: self._stopped() == Stop.BUDGET)
        self._publish()
        self._phase("waves and experts", lambda: self._stopped() == Stop.TARGET, is_judging=True)
        for name in ("the audit that calibrates", "the audit that measures"):
            audit = self._draw()
            self._phase(name, partial(self._is_judged, audit), is_judging=True)
            self._phase("waves and experts after it", self._is_reached, is_judging=True)

    def _phase(self, name: str, is_over: Callable[[], bool], *, is_judging: bool = False) -> None:
        """Wait until a phase is over, decide what waits meanwhile, and kill the worker once in it, while there are kills left."""
        self.say(name)
        kill_at = time.monotonic() + self.chance.uniform(0.1, 1.5)
        while not is_over():
            if time.monotonic() > self.deadline:
                raise Stuck(f"{name}: {TargetSnapshot.objects.filter(campaign=self.campaign).values('data')}")
            if self.services.worker is not None and self.services.worker.poll() is not None:
                raise Stuck("the job worker ended")
            if time.monotonic() > kill_at:
                kill_at = self._kill()
            self._decide(is_judging=is_judging)
            close_old_connections()
            time.sleep(0.2)
        if kill_at < self.deadline:  # it was over before
            self._kill()

    def _kill(self) -> float:
        """Kill the job worker, while there are kills left; return when it is to be killed again in this phase: never."""
        if self.kills:
            self.kills -= 1
            self.services.kill_worker()
            self.say("killed the job worker")
        return self.deadline

    def known(self) -> dict[str, Any]:
        """Return what the platform knows of its target."""
        return TargetSnapshot.objects.filter(campaign=self.campaign).values_list("data", flat=True).first() or {}

    def _stopped(self) -> str:
        stop = str(self.known().get("stop") or "")
        if stop and stop not in self.stops:
            self.stops.append(stop)
        return stop

    def _is_reached(self) -> bool:
        return self._stopped() == Stop.TARGET and bool(self.known()["calibration"])

    def _publish(self) -> None:
        policy_publish(campaign=self.campaign, policy=policy_of(BUDGET), actor_id=self.surrogate, now=timezone.now())

    def _draw(self) -> Audit:
        drawn = Audit.objects.filter(campaign=self.campaign).count()
        job = job_enqueue(
            kind="quality.audit", now=timezone.now(), scope_id=self.campaign.pk, requested_by_id=self.surrogate,
            payload={"campaign": str(self.campaign.pk), "count": 30, "twice": 0.2, "seed": drawn},
        )  # fmt: skip
        self._phase("a draw", lambda: Job.objects.get(pk=job.pk).state in ("done", "failed"))
        if Job.objects.get(pk=job.pk).state == "failed":
            raise Stuck(Job.objects.get(pk=job.pk).error)
        return Audit.objects.filter(campaign=self.campaign).order_by("-pk")[0]

    def _is_judged(self, audit: Audit) -> bool:
        return not audit.items.exclude(case__state=CaseState.DECIDED).exclude(is_left_out=True).exists()

    def _decide(self, *, is_judging: bool) -> None:
        """Suspend whom gold found, paid; let experts judge what is before them, right nine times of ten."""
        now = timezone.now()
        for review in Review.objects.filter(campaign=self.campaign, state="open"):
            review_decide(
                review=review, suspend=True, refuse_pay=False, actor_id=self.surrogate, now=now, reason="Mostly wrong."
            )
        waiting = Case.objects.filter(campaign=self.campaign, state=CaseState.OPEN).select_related("item", "campaign")
        for case in waiting if is_judging else ():
            self._judge(case)

    def _judge(self, case: Case) -> None:
        content, now = case.item.content, timezone.now()
        true = self.truth[content["question_text"], content["answer_text"]]
        able = experts_able(self.campaign, [case.item_id])[case.item_id]
        said = [expert.surrogate_id for expert in self.experts if expert.surrogate_id in able][: case.experts]
        for expert in said:
            label = true if self.chance.random() < 0.9 else max(1, true - 1)
            opinion_give(case=case, surrogate_id=expert, said={LABEL: label}, justification="", now=now)
        if Case.objects.filter(pk=case.pk, state=CaseState.CONSENSUS).exists():
            consensus_reach(
                case=case, surrogate_id=said[0], said={LABEL: true}, justification="Read again together.", now=now
            )


def _result(campaign: Campaign, manager: _Manager, books: dict[str, Any]) -> dict[str, Any]:
    """Return what the run came to, with what has to hold of it."""
    waves = list(Wave.objects.filter(campaign=campaign).order_by("number"))
    extra = Slot.objects.filter(campaign=campaign, round=2)
    release = release_freeze(
        campaign=campaign, family="antique", ways=1, splits=[], seed=0, shards=1, actor_id=None, now=timezone.now()
    )
    labels = dict(Verdict.objects.filter(campaign=campaign, superseded_at=None).values_list("item", "label"))
    items = Item.objects.filter(pk__in=labels).in_bulk()
    true = {pk: manager.truth[item.content["question_text"], item.content["answer_text"]] for pk, item in items.items()}
    found = {
        "campaign": campaign.slug, "stops": manager.stops, "waves": len(waves),
        "unfinished_waves": sum(not wave.is_complete for wave in waves), "votes_bought": sum(len(wave.votes) for wave in waves),
        "slots_bought": extra.count(), "most_votes": _most_votes(campaign),
        "cases": Case.objects.filter(campaign=campaign, because=CaseReason.DOUBT).count(),
        "labels": len(labels), "wrong": sum(label != true[pk] for pk, label in labels.items()),
        "predicted": manager.known()["predicted"], "spent_cents": manager.known()["spent_cents"],
        "label_error": label_error_of(campaign), "printed": release.frozen["label_error"], "books": books,
        "failed_errands": Errand.objects.filter(workforce__campaign=campaign, state=ErrandState.FAILED).count(),
    }  # fmt: skip
    connection.close()
    return found


def _most_votes(campaign: Campaign) -> int:
    counted = Annotation.objects.filter(
        campaign=campaign, state="counted", slot__round__in=[1, 2], item__batch__purpose="work"
    )
    votes: dict[int, int] = {}
    for item in counted.values_list("item", flat=True):
        votes[item] = votes.get(item, 0) + 1
    return max(votes.values(), default=0)
