"""Turning the input of a command or form into a crowd, policies and a setting."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from annotation.models import Campaign
from annotation.tasktypes.base import Scale, Voted
from annotation.tasktypes.registry import TASK_TYPES
from measures.agreement import Level
from measures.judgments import Judgments, effective_number
from measures.pilots import Foreseen, PilotTooSmall, forecasts
from quality.plans.making import plan_made
from quality.plans.setting import PlanError, Setting
from quality.policies.policy import Policy, Process
from quality.policies.selectors import policy_current
from simulation.assumed import assumed
from simulation.fit import Rows, fitted
from simulation.model import CrowdModel, Pace, Places

CARE, SECONDS = 0.92, 20.0  # of people of whom nothing is known


def policy_named(text: str, base: Policy) -> Policy:
    """Return the policy that a short text describes; everything else is taken from another policy.

    ``paper``, ``fixed``, or ``target`` with the acceptable share of wrong labels and a budget in dollars.

    Raises
    ------
    PlanError

    Examples
    --------
    >>> policy_named("target:0.05:200", Policy()).target.budget_cents
    20000
    """
    name, *more = text.split(":")
    if name not in set(Process) or len(more) > (2 if name == Process.TARGET else 0):
        raise PlanError("plan_policy", text=repr(text))
    try:
        target = base.target
        if more:
            target = replace(target, error=float(more[0]))
        if len(more) > 1:
            target = replace(target, budget_cents=round(100 * float(more[1])))
    except ValueError as error:
        raise PlanError("plan_policy_wrong", text=repr(text), problem=str(error)) from error
    return replace(base, process=Process(name), target=target)


def campaign_asked(campaign: Campaign) -> tuple[list[str], Policy]:
    """Return the labels of a campaign and its policy in force.

    Raises
    ------
    PlanError
        The campaign's labels aren't made by votes.
    """
    task_type = TASK_TYPES[campaign.task_type]
    if not isinstance(task_type, Voted):
        raise PlanError("plan_without_votes")
    found = policy_current(campaign)
    return [str(label) for label in task_type.labels], found[1] if found else Policy()


def plan_asked(
    campaign: Campaign, asked: Mapping[str, Any], *, on_run: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """Return the plan that the page requests: the campaign's policy beside the other processes and a target.

    Raises
    ------
    PlanError
        The campaign's labels aren't made by votes, or no crowd has such a low or high rate of disagreement.
    """
    labels, base = campaign_asked(campaign)
    names = ("items", "votes", "people", "spam", "reward_cents", "answers_a_day")
    setting = Setting(**{name: asked[name] for name in names}, level=_level(campaign))
    target = replace(base.target, error=asked["error"], budget_cents=round(100 * asked["budget"]))
    policies = {process.value: replace(base, process=process) for process in Process}
    policies["target"] = replace(base, process=Process.TARGET, target=target)
    model = crowd_assumed(
        labels, no_majority=asked["no_majority"], care=CARE, votes=setting.votes, seconds=SECONDS, level=setting.level
    )
    source = {"no_majority": asked["no_majority"], "care": CARE}
    ours = base.process.value
    return plan_made(
        model, {ours: policies.pop(ours), **policies}, setting, source=source, seed=asked["seed"], on_run=on_run
    )


def _level(campaign: Campaign) -> Level:
    is_ordinal = any(one.scale is Scale.ORDINAL for one in TASK_TYPES[campaign.task_type].measures)
    return Level.ORDINAL if is_ordinal else Level.NOMINAL


def crowd_assumed(
    labels: Iterable[str], *, no_majority: float, care: float, votes: int, seconds: float, level: Level
) -> CrowdModel:
    """Return a crowd with the rates that a team assumes.

    Raises
    ------
    PlanError
        No crowd of such care has such a low or high rate of disagreement.
    """
    try:
        return assumed(
            list(labels),
            no_majority=no_majority,
            care=care,
            votes_each=votes,
            is_ordinal=level is Level.ORDINAL,
            alike=8.0,
            pace=Pace(median=seconds),
        )
    except ValueError as error:
        raise PlanError.of(error) from error


def truth_places(judgments: Judgments, truth: Mapping[Any, Any] | None) -> Places:
    """Return the index of each item's right label, -1 if it isn't known."""
    places = {str(label): place for place, label in enumerate(judgments.labels)}
    known = {str(item): str(label) for item, label in (truth or {}).items()}
    return np.array([places.get(known.get(str(item), ""), -1) for item in judgments.items])


def crowd_fitted(judgments: Judgments, true: Places, seconds: Mapping[Any, float]) -> CrowdModel:
    """Return a crowd model fitted to judgments."""
    rows = Rows(tuple(map(str, judgments.labels)), judgments.item, judgments.annotator, judgments.label, true)
    pace = Pace(median=float(np.median(list(seconds.values())))) if seconds else Pace()
    return fitted(rows, pace=pace)


def foreseen(judgments: Judgments, true: Places, setting: Setting) -> dict[str, Foreseen]:
    """Return the forecast of the campaign from a pilot.

    Raises
    ------
    PlanError
        The pilot is too small.
    """
    people = setting.people * effective_number(judgments.annotator) / len(judgments.annotators)
    try:
        return forecasts(
            judgments, true, votes=setting.votes, items=setting.items, people=max(people, 2), level=setting.level
        )
    except PilotTooSmall as error:
        raise PlanError.of(error) from error
