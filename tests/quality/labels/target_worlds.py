"""A campaign that stops at a stated error, with people and experts who answer, for the tests of waves and replays."""

from datetime import timedelta

import numpy as np
from django.utils import timezone

from annotation.slots.services.claims import slot_claim_next
from measures.targets import Target
from quality.experts.services.opinions import opinion_give
from quality.labels.services import waves
from quality.labels.services.waves import waves_due
from quality.models import Audit, Case, CaseReason, CaseState, Opinion, TargetSnapshot, Wave
from quality.policies.policy import Policy, Process
from tests import factories
from tests.quality.worlds import draw_audit, expert_of

ITEMS = 40


def target_policy(**target):
    return Policy(
        process=Process.TARGET, target=Target(**{"error": 0.05, "most": 6, **target}), gold_rate=0, gold_first=0
    )


class World:
    """A campaign whose people are right four times of five, and experts always: every item is a 4."""

    def __init__(self, items=ITEMS, people=8, *, right=0.8, **target):
        self.campaign = factories.antique(items=items, n=3, policy=target_policy(**target))
        self.people = [factories.annotator(self.campaign) for _ in range(people)]
        self.experts = [expert_of(self.campaign) for _ in range(6)]
        self.chance, self.right = np.random.default_rng(7), right
        self.boss = factories.user(is_admin=True)
        self.clock = timezone.now()

    def work(self):
        """Let people answer all that is open; return how many answers that was."""
        done = 0
        for person in self.people:
            while (assignment := self.claim(person)) is not None:
                wrong = int(self.chance.integers(1, 4))
                factories.submit(factories.label(assignment, 4 if self.chance.random() < self.right else wrong))
                done += 1
        factories.examine(self.campaign)
        return done

    def claim(self, person):
        now = timezone.now()
        return slot_claim_next(campaign=self.campaign, surrogate_id=person.surrogate_id, now=now).assignment

    def look(self):
        """Let the sweep come by some time later, and what it asks for run; return what is known then."""
        self.clock += timedelta(seconds=waves.REST_SECONDS + 1)
        TargetSnapshot.objects.update(taken_at=self.clock - timedelta(seconds=waves.REST_SECONDS + 1))
        waves_due(self.clock)
        factories.run_jobs()
        return TargetSnapshot.objects.get(campaign=self.campaign).data

    def run(self, most=60):
        """Work and look until nothing is open and nothing new is bought."""
        for _ in range(most):
            answered, before = self.work(), Wave.objects.count()
            found = self.look()
            if not answered and Wave.objects.count() == before:
                return found
        raise AssertionError("it does not end")

    def judge(self, because, wrong=0):
        """Let experts judge what is before them for a reason: 4, but for the first so many."""
        for number, case in enumerate(Case.objects.filter(because=because, state=CaseState.OPEN).order_by("pk")):
            label = 1 if number < wrong else 4
            for expert in self._unbiased(case)[: case.experts]:
                opinion_give(
                    case=case,
                    surrogate_id=expert.surrogate_id,
                    said={"label": label},
                    justification="",
                    now=timezone.now(),
                )
        factories.run_jobs()

    def _unbiased(self, case):
        said = Opinion.objects.filter(case__item=case.item).values_list("surrogate", flat=True)
        return [expert for expert in self.experts if expert.surrogate_id not in said]

    def settle(self):
        """Run, and let experts judge what is in doubt, until nothing is: an audit is refused before."""
        for _ in range(20):
            found = self.run()
            if not Case.objects.filter(because=CaseReason.DOUBT, state=CaseState.OPEN).exists():
                return found
            self.judge(CaseReason.DOUBT)
        raise AssertionError("it does not end")

    def audit(self, wrong=0):
        drawn = Audit.objects.count()
        found = draw_audit(self.campaign, self.boss, count=30)
        assert Audit.objects.count() == drawn + 1
        self.judge(CaseReason.AUDIT, wrong)
        return found
