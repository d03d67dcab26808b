"""Forecasts of a campaign under several policies: many runs of each, with made-up people."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from measures.agreement import alpha
from quality.gold.key_statistics import keys_needed
from quality.plans.playing import Run
from quality.plans.setting import Setting
from quality.policies.policy import Policy, Process
from simulation.model import CrowdModel
from simulation.world import chance_of
from workforces.money import FEE_SHARE, NO_FEES, fee_cents

RUNS = 20
HELD = 0.9  # of the runs lie between low and high


@dataclass(frozen=True, slots=True)
class Span:
    """The mean of a number over all runs, and the bounds of the middle 90% of them."""

    value: float
    low: float
    high: float


# What is said of each policy, in order.
NAMES = (
    "cents",
    "days",
    "label_error",
    "no_majority",
    "expert_cases",
    "expert_hours",
    "inspection_hours",
    "alpha",
    "alpha_width",
    "judgments",
    "excluded",
    "suspended",
    "gold_checks",
    "gold_keys",
    "cents_an_hour",
)


def plans_of(
    model: CrowdModel,
    policies: Mapping[str, Policy],
    setting: Setting,
    *,
    runs: int = RUNS,
    seed: int = 0,
    on_run: Callable[[], None] = lambda: None,
) -> dict[str, dict[str, Span]]:
    """Return the forecast of each policy, by its name. ``on_run`` is called after each simulated run.

    Each run begins from the same seed for every policy, so that policies with the same gold checks get the same people.

    Notes
    -----
    The bounds show the variation between runs with such a crowd. They don't show how well the crowd is known; for
    that see `measures.pilots`, whose intervals are wider.
    """

    def numbers(policy: Policy, number: int) -> dict[str, float]:
        found = _numbers(Run(model, policy, setting, chance_of(seed, number)))
        on_run()
        return found

    return {name: _spans([numbers(policy, one) for one in range(runs)]) for name, policy in policies.items()}


def _spans(runs: list[dict[str, float]]) -> dict[str, Span]:
    found = {}
    for name in NAMES:
        values = np.array([run[name] for run in runs])
        low, high = np.nanquantile(values, [(1 - HELD) / 2, (1 + HELD) / 2])
        found[name] = Span(float(np.nanmean(values)), float(low), float(high))
    return found


def _numbers(run: Run) -> dict[str, float]:
    """Simulate a run and return its numbers, for the whole campaign."""
    played, setting, policy, scale = run.play(), run.setting, run.policy, run.scale
    counted = played.counts.sum() * scale
    judgments = counted + run.staff.excluded
    answers = judgments + run.staff.checks
    agreement = alpha(run.judgments(setting.votes), level=setting.level)
    width = agreement.high - agreement.low if agreement.high is not None and agreement.low is not None else np.nan
    each = setting.reward_cents + fee_cents(setting.reward_cents, share=FEE_SHARE if setting.has_fees else NO_FEES)
    cases = played.cases * scale * (policy.experts if policy.process is Process.PAPER else 1) + played.audited
    seconds = run.model.pace.median * np.exp((run.model.pace.between**2 + run.model.pace.within**2) / 2)
    decided = played.label >= 0
    return {
        "cents": answers * each
        + setting.people * setting.training_cents
        + played.cases * scale * policy.target.expert_cents,
        "days": answers / (setting.people * setting.answers_a_day),
        "label_error": float((played.label[decided] != played.true[decided]).sum() / len(decided)),
        "no_majority": played.no_majority,
        "expert_cases": played.cases * scale,
        "expert_hours": cases * setting.expert_minutes / 60,
        "inspection_hours": policy.inspection_rate * judgments * setting.inspection_seconds / 3600,
        "alpha": agreement.alpha if agreement.alpha is not None else np.nan,
        "alpha_width": width,
        "judgments": judgments,
        "excluded": run.staff.excluded,
        "suspended": run.staff.suspended,
        "gold_checks": run.staff.checks,
        "gold_keys": keys_needed(people=setting.people, items_each=round(answers / setting.people), policy=policy),
        "cents_an_hour": setting.reward_cents * 3600 / seconds,
    }
