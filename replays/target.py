"""The same pairs labeled twice by the same crowd: by the ANTIQUE paper's process, and with votes for doubtful labels.

The paper's process comes first; an audit measures its error, and its ledger gives its cost. Then comes a campaign with
a target. Its budget for further votes is the cost per label of the paper's second round, and its acceptable error is
the error measured by the audit. Each campaign ends with its own audit.
"""

from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.utils import timezone

from accounts.models import Membership, Role, User
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import AnnotationState, Campaign, ItemState, Slot
from annotation.tasktypes.labels import LABEL
from jobs.models import Job, JobState
from jobs.services import job_enqueue
from measures.targets import Target
from quality.dashboard.selectors.summary import summary_of
from quality.experts.services.opinions import consensus_confirm, consensus_propose, opinion_give
from quality.labels.selectors.audits import experts_able, label_error_of
from quality.labels.services import waves
from quality.models import PENDING, Audit, Case, CaseState, Phase, TargetSnapshot, Verdict, Wave
from quality.policies.policy import Policy, Process
from quality.policies.selectors import policy_current
from replays.antique import wrong_by_rule
from replays.base import Asked, State
from replays.collecting import REWARD_CENTS, Collecting, campaign_of, deposit_of, pace_of
from replays.ensemble import Ensemble, ensemble_of
from replays.pairs import POLICY, Material
from replays.settling import Stuck
from replays.terminals import Say
from workforces.money import fee_cents

EXPERTS = 6  # enough that none of them audits a pair they have judged
AUDITED = 400
CENTS_EACH = REWARD_CENTS + fee_cents(REWARD_CENTS)
MOST_VOTES = 9
LEAST_ERROR = 0.02  # that is aimed at: an audit of a few hundred labels tells no less


def replay(asked: Asked, state: State, say: Say) -> dict[str, Any]:
    """Run both campaigns, or continue them; return their figures."""
    material = Material(asked)
    figures: dict[str, Any] = {"people": material.workers, "pairs": material.pairs}
    with ensemble_of(asked.slug, ports=state.ports, deposit=deposit_of(material), pace=pace_of(material)) as services:
        policy = POLICY
        with state.measuring(services):
            for name in ("paper", "target"):
                campaign = campaign_of(asked, f"{asked.slug}-{name}", policy)
                collecting = _Audited(asked, state, material, campaign, say)
                with state.phase(name):
                    found = state.once(f"{name} figures", partial(collecting.from_first_to_last, services))
                figures[name] = {**found, "policy": policy.as_data()}
                policy = _aiming(found, material)
    return figures


def _aiming(paper: dict[str, Any], material: Material) -> Policy:
    """Return a policy whose target is the paper's error, with the cost of the paper's second round as its budget."""
    error = max(LEAST_ERROR, paper["label_error"]["share"])
    cents = (paper["judgments"] - 3 * material.pairs) * CENTS_EACH
    target = Target(error=round(min(error, 0.5), 3), budget_cents=max(100, int(cents)), most=MOST_VOTES)
    return Policy(process=Process.TARGET, target=target)


class _Audited(Collecting):
    """Collects labels by either process, with audits by six experts."""

    def __init__(self, asked: Asked, state: State, material: Material, campaign: Campaign, say: Say) -> None:
        super().__init__(asked, state, material, campaign, say)
        self.experts = [self._expert(number) for number in range(EXPERTS)]

    def _expert(self, number: int) -> UUID:
        email = f"expert{number}-{self.campaign.slug}@crowd.example"
        user = User.objects.filter(email=email).first() or User.objects.create_user(email, None)
        Membership.objects.get_or_create(user=user, scope_id=self.campaign.pk, role=Role.EXPERT)
        return user.surrogate_id

    def from_first_to_last(self, services: Ensemble) -> dict[str, Any]:
        """Collect labels, audit them, and pay everybody; return the figures."""
        self.run(services)
        audit = self._audit("last")
        while not self._is_judged(audit):
            self.decide()
            self.pause()
        self.settle()
        numbers_refresh(campaign=self.campaign, now=timezone.now())
        summary, books = summary_of(self.campaign), services.books(self.campaign.slug)
        wrong = wrong_by_rule(self.campaign, self.material)
        measured = label_error_of(self.campaign)
        if measured is None:
            raise Stuck("an audit ended without an estimate")
        return {
            "judgments": summary.judgments,
            "labels": sum(of for _wrong, of in wrong.values()),
            "wrong by rule": wrong,
            "experts": summary.expert_cases,
            "suspended": summary.suspended,
            "cents": summary.reward_cents + summary.bonus_cents + summary.fee_cents,
            "differences": books["differences"],
            "label_error": measured,
            "stop": self._known().get("stop", ""),
            "waves": self._waves(),
            "account": books["account"],
            "paid_cents": books["rewards_ours"] + books["bonuses_ours"],
        }

    def _waves(self) -> dict[str, int]:
        """Return the numbers of waves, bought votes and opened slots."""
        begun = list(Wave.objects.filter(campaign=self.campaign))
        counted = Count(
            "annotations", filter=Q(annotations__state=AnnotationState.COUNTED, annotations__slot__round__in=[1, 2])
        )
        votes = self._pairs().annotate(votes_counted=counted).values_list("votes_counted", flat=True)
        return {
            "count": len(begun),
            "unfinished": sum(not wave.is_complete for wave in begun),
            "votes bought": sum(len(wave.votes) for wave in begun),
            "slots": Slot.objects.filter(campaign=self.campaign, round=2).count(),
            "most votes": max(votes, default=0),
        }

    def is_done(self, labels: int) -> bool:
        """Return whether the process is finished: it has stopped, and a first audit has calibrated its predictions.

        The first finished audit only calibrates and measures nothing, whatever the reason for stopping.
        """
        if self._policy_process() is not Process.TARGET:
            return super().is_done(labels)
        known = self._known()
        if not known.get("stop") or self._is_moving(known):
            return False
        if not known.get("calibration"):
            self._audit("first")
        return bool(known.get("calibration"))

    def _is_moving(self, known: dict[str, Any]) -> bool:
        """Return whether work is pending, or was finished after the platform last checked its target."""
        if known.get("item_count", 0) < self._pairs().filter(state=ItemState.ACTIVE).count():
            return True  # it looked before the last batch came
        cases, labels = Case.objects.filter(campaign=self.campaign), Verdict.objects.filter(campaign=self.campaign)
        begun = Wave.objects.filter(campaign=self.campaign, is_complete=False)
        if begun.exists() or cases.filter(state__in=PENDING).exists():
            return True
        looks = Job.objects.filter(scope=self.campaign.pk, kind=waves.KIND, state=JobState.DONE).order_by("-created_at")
        looked_at = looks.values_list("started_at", flat=True).first()
        return bool(
            looked_at is None
            or cases.filter(closed_at__gte=looked_at).exists()
            or labels.filter(decided_at__gte=looked_at).exists()
        )

    def judge(self, case: Case) -> None:
        """Have the required number of experts judge a pair, alone and then together; only experts new to the pair."""
        able = experts_able(self.campaign, [case.item_id])[case.item_id]
        chosen = [expert for expert in self.experts if expert in able][: case.experts]
        spoken = set(case.opinions.values_list("surrogate_id", flat=True))
        for number, expert in enumerate(chosen):
            if expert not in spoken:
                label = self.expert_says(case.item.content, number)
                opinion_give(case=case, surrogate_id=expert, said={LABEL: label}, justification="", now=timezone.now())
        if chosen and Case.objects.filter(pk=case.pk, state=CaseState.CONSENSUS).exists():
            true = self.material.true(case.item.content)
            first, second = (
                case.opinions.filter(phase=Phase.BLIND).order_by("pk").values_list("surrogate_id", flat=True)[:2]
            )
            now = timezone.now()
            proposal = consensus_propose(
                case=case, surrogate_id=first, said={LABEL: true}, justification="Read together.", now=now
            )
            consensus_confirm(case=case, proposal_id=proposal.pk, surrogate_id=second, now=now)

    def _policy_process(self) -> Process:
        found = policy_current(self.campaign)
        assert found is not None
        return found[1].process

    def _known(self) -> dict[str, Any]:
        """Return the platform's latest data on its target."""
        return TargetSnapshot.objects.filter(campaign=self.campaign).values_list("data", flat=True).first() or {}

    def _audit(self, name: str) -> Audit:
        """Return an audit; draw it if it wasn't drawn before."""
        key = self.state.once(f"{self.campaign.slug} {name} audit", self._drawn)
        return Audit.objects.get(pk=key)

    def _drawn(self) -> int:
        drawn = Audit.objects.filter(campaign=self.campaign).count()
        job = job_enqueue(
            kind="quality.audit",
            now=timezone.now(),
            scope_id=self.campaign.pk,
            requested_by_id=self.manager,
            payload={"campaign": str(self.campaign.pk), "count": AUDITED, "twice": 0.2, "seed": drawn},
        )
        while (row := Job.objects.get(pk=job.pk)).state not in (JobState.DONE, JobState.FAILED):
            self.pause()
        if row.state == JobState.FAILED:
            raise Stuck(row.error)
        return int(Audit.objects.filter(campaign=self.campaign).order_by("-pk").values_list("pk", flat=True)[0])

    def _is_judged(self, audit: Audit) -> bool:
        return not audit.items.exclude(case__state=CaseState.DECIDED).exclude(is_left_out=True).exists()
