"""A plan in the form that is stored and shown."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from measures.pilots import Foreseen
from quality.plans.engine import RUNS, plans_of
from quality.plans.setting import Setting
from quality.policies.policy import Policy
from simulation.model import CrowdModel


def plan_made(
    model: CrowdModel,
    policies: Mapping[str, Policy],
    setting: Setting,
    *,
    source: Mapping[str, Any],
    pilot: Mapping[str, Foreseen] | None = None,
    runs: int = RUNS,
    seed: int = 1,
    on_run: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Simulate each policy and return the results, with all assumptions and inputs, as JSON.

    Parameters
    ----------
    source
        The source of the crowd: the rates that were assumed, or the file that it was fitted to.
    """
    found = plans_of(model, policies, setting, runs=runs, seed=seed, on_run=on_run)
    return {
        "names": list(policies),  # in their order, which JSON of a database does not keep
        "setting": asdict(setting),
        "seed": seed,
        "runs": runs,
        "crowd": dict(source),
        "policies": {name: policy.as_data() for name, policy in policies.items()},
        "plans": {name: {key: asdict(value) for key, value in one.items()} for name, one in found.items()},
        "pilot": {name: asdict(one) for name, one in pilot.items()} if pilot else None,
    }
