"""The simulation of one campaign with simulated people: votes, gold, suspensions, second rounds, experts."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from measures.audits import allocation, spread, strata_by_doubt
from measures.gold_tests import GoldTest
from measures.judgments import Judgments
from measures.targets import Calibration, Sample, belief_of, next_purchase
from quality.gold.key_statistics import checks_among
from quality.plans.setting import Setting
from quality.policies.policy import Policy, Process, SecondRound
from simulation.model import CrowdModel, Floats, Places, votes
from simulation.people import spam_among

MOST_ITEMS, MOST_TARGET_ITEMS = 6_000, 1_500  # that are played; what is counted is scaled up
AUDITED = 150  # labels, by the audit that calibrates
STEP = 0.05  # of hit rates for which the gold test is computed


@dataclass
class Played:
    """The result of one run. Counts are of the simulated items; the campaign has ``scale`` times as many."""

    true: Places
    counts: Floats
    label: Places  # -1 where experts decided
    rounds: list[tuple[Places, Places, Places]] = field(default_factory=list)  # item, person, label
    no_majority: float = 0.0
    cases: int = 0
    audited: int = 0


@dataclass
class Staff:
    """The people of one run: their care and habits, their shares of the work, and the effects of the gold test."""

    care: Floats
    habits: Floats
    shares: Floats  # of counted votes: nothing of those who are suspended
    excluded: float  # answers by people who are suspended later, for the whole campaign
    checks: float  # gold checks answered
    suspended: int


def staff_of(model: CrowdModel, setting: Setting, policy: Policy, chance: np.random.Generator) -> Staff:
    """Draw people, apply the gold test to them, and return those who are left to vote."""
    places = model.people(setting.people, chance)
    loads = model.loads[places] * np.exp(chance.normal(0, setting.skew, setting.people))
    care, habits = model.care[places].copy(), model.habits[places].copy()
    is_spam = spam_among(loads, setting.spam, chance)
    care[is_spam], habits[is_spam] = 0.0, 1 / len(model.labels)
    wanted = 1.15 * setting.items * setting.votes * loads / loads.sum()
    hit = care + (1 - care) / len(model.labels)
    paused = np.array([_paused_after(policy, rate, items, chance) for rate, items in zip(hit, wanted, strict=True)])
    is_out = np.isfinite(paused)
    if is_out.all():  # the campaign could not be finished, so the plan keeps all of them
        is_out[:] = False
    shares = np.where(is_out, 0.0, loads)
    excluded = float(np.minimum(paused, wanted)[is_out].sum())
    checks = float(
        sum(
            checks_among(int(min(after, items)) if out else int(items), policy)
            for after, items, out in zip(paused, wanted, is_out, strict=True)
        )
    )
    return Staff(care, habits, shares / shares.sum(), excluded, checks, int(is_out.sum()))


def _paused_after(policy: Policy, hit_rate: float, items: float, chance: np.random.Generator) -> float:
    """Return the number of items after which a person with this hit rate is paused; infinity if never."""
    checks = checks_among(int(items), policy)
    if not checks:
        return np.inf
    curve = _failed(policy.gold_test, round(round(hit_rate / STEP) * STEP, 2))
    draw = chance.random()
    failing = int(np.searchsorted(curve, draw))
    if failing > checks or failing >= len(curve):
        return np.inf
    return float(next(n for n in range(int(items) + 1) if checks_among(n, policy) >= failing))


@lru_cache(maxsize=256)
def _failed(test: GoldTest, hit_rate: float) -> Floats:
    return test.failure_curve(min(max(hit_rate, 0.05), 0.99), 60)


@dataclass
class Run:
    """One simulated campaign."""

    model: CrowdModel
    policy: Policy
    setting: Setting
    chance: np.random.Generator

    def __post_init__(self) -> None:
        most = MOST_TARGET_ITEMS if self.policy.process is Process.TARGET else MOST_ITEMS
        self.items = min(self.setting.items, most)
        self.scale = self.setting.items / self.items
        self.staff = staff_of(self.model, self.setting, self.policy, self.chance)
        true, self.said = self.model.items(self.items, self.chance)
        self.seen = np.zeros((self.items, 0), dtype=np.int64)
        self.played = Played(true, np.zeros((self.items, len(self.model.labels))), np.full(self.items, -1))

    def play(self) -> Played:
        """Simulate the campaign by the policy's process."""
        for _ in range(self.setting.votes):
            self.vote(np.arange(self.items))
        most = self.played.counts.max(axis=1)
        self.played.no_majority = float((2 * most <= self.setting.votes).mean())
        {Process.PAPER: self._paper, Process.FIXED: self._fixed, Process.TARGET: self._target}[self.policy.process]()
        return self.played

    def vote(self, items: Places) -> Places:
        """Give each of these items one more vote by a person who has not voted on it; return the labels."""
        who = self.chance.choice(len(self.staff.shares), size=len(items), p=self.staff.shares)
        for _ in range(20):
            again = (self.seen[items] == who[:, None]).any(axis=1)
            if not again.any():
                break
            who[again] = self.chance.choice(len(self.staff.shares), size=int(again.sum()), p=self.staff.shares)
        column = np.full((self.items, 1), -1)
        column[items, 0] = who
        self.seen = np.hstack([self.seen, column])
        label = votes(self.said[items], self.staff.care[who], self.staff.habits[who], self.chance)
        self.played.counts[items, label] += 1
        self.played.rounds.append((items, who, label))
        return label

    def judgments(self, rounds: int | None = None) -> Judgments:
        """Return the votes of the first rounds, or of all."""
        item, who, label = (np.concatenate(columns) for columns in zip(*self.played.rounds[:rounds], strict=True))
        people = tuple(range(len(self.staff.shares)))
        return Judgments(tuple(range(self.items)), people, self.model.labels, item, who, label)

    def _decided(self, counts: Floats, is_decided: NDArray[np.bool_], items: Places) -> Places:
        self.played.label[items[is_decided]] = counts[is_decided].argmax(axis=1)
        return items[~is_decided]

    def _paper(self) -> None:
        counts, votes_each = self.played.counts.copy(), self.setting.votes
        open_ = self._decided(counts, 2 * counts.max(axis=1) > votes_each, np.arange(self.items))
        for _ in range(votes_each):
            self.vote(open_)
        if self.policy.second_round is SecondRound.POOLED:
            pooled = self.played.counts[open_]
            top = np.sort(pooled, axis=1)
            left = self._decided(pooled, top[:, -1] > top[:, -2], open_)
        else:
            second = self.played.counts[open_] - counts[open_]
            left = self._decided(second, 2 * second.max(axis=1) > votes_each, open_)
        self.played.cases = len(left)

    def _fixed(self) -> None:
        top = np.sort(self.played.counts, axis=1)
        left = self._decided(self.played.counts, top[:, -1] > top[:, -2], np.arange(self.items))
        self.played.cases = len(left)

    def _target(self) -> None:
        target, settled = self.policy.target, np.zeros(self.items, dtype=bool)
        sample: Sample | None = None
        cents_each = self.setting.reward_cents * (1.2 if self.setting.has_fees else 1.0)
        spent, budget = 0.0, target.budget_cents / self.scale
        while True:
            belief = belief_of(self.judgments())
            calibration = sample.calibration(belief, settled) if sample else Calibration()
            doubts = np.where(settled, 0.0, calibration.of(belief.doubts()))
            number = self.played.counts.sum(axis=1).astype(np.int64)
            wave = next_purchase(doubts, number, ~settled, target, vote_cents=cents_each, cents_left=budget - spent)
            if len(wave.votes):
                self.vote(wave.votes)
                spent += cents_each * len(wave.votes)
            if len(wave.experts):
                settled[wave.experts] = True
                spent += target.expert_cents * len(wave.experts)
            if len(wave.votes) or len(wave.experts):
                continue
            if sample is not None:
                break
            sample = self._audit(belief.doubts())
        labels = self.played.counts.argmax(axis=1)
        self.played.label = np.where(settled | belief.undecided(), -1, labels)
        self.played.cases = int((self.played.label < 0).sum())

    def _audit(self, doubts: Floats) -> Sample:
        """Return a stratified sample, judged by simulated experts."""
        places = strata_by_doubt(doubts)
        strata = [np.flatnonzero(places == place) for place in range(int(places.max()) + 1)]
        sizes = allocation([len(one) for one in strata], [float(spread(doubts[one]).mean()) for one in strata], AUDITED)
        drawn = [self.chance.choice(one, size, replace=False) for one, size in zip(strata, sizes, strict=True)]
        weights = [np.full(len(some), len(one) / max(len(some), 1)) for one, some in zip(strata, drawn, strict=True)]
        together = np.concatenate(drawn)
        self.played.audited = len(together)
        return Sample(together, self.played.true[together], np.concatenate(weights))
