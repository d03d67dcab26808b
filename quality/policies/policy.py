"""A campaign's settings for quality control, as one frozen value with a version."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from measures.gold_tests import GoldTest
from measures.targets import Target
from web.errors import KeyedError

LEAST_RATE = 0.001  # of gold checks, besides none at all


class PolicyError(KeyedError):
    """A policy isn't possible for a campaign."""


class Process(StrEnum):
    """How votes become labels, and how many votes there are."""

    PAPER = "paper"
    FIXED = "fixed"
    TARGET = "target"


class SecondRound(StrEnum):
    """The votes that are counted after the second round; the ANTIQUE paper doesn't specify this."""

    ALONE = "alone"
    POOLED = "pooled"


@dataclass(frozen=True, slots=True)
class Policy:
    """The process of ANTIQUE (Hashemi et al. 2020, section 3.1) and the settings that the paper leaves open.

    Attributes
    ----------
    process
        ``paper``: a strict majority decides, else a second round, else experts. ``fixed``: the most frequent label of
        the first round, else experts. ``target``: more votes where labels are doubtful (`measures.targets`).
    target
        The goal of the process ``target``; the other processes ignore it.
    second_round
        For ``paper``. ``alone``: strict majority of the second round; ``pooled``: unique plurality of both rounds.
    gold_rate
        Share of gold checks among a person's items after the initial phase.
    gold_first, gold_first_items
        The number of checks in the initial phase, and its length in items.
    gold_most_exposures
        The maximum number of times one key is shown, over all people.
    gold_test
        The test by which checks warn and pause.
    drift_run_length
        Average number of checks until a good annotator is wrongly flagged for late drift (`measures.drift`); 0: never.
    inspection_rate
        Share of each person's submissions that a manager inspects.
    experts
        The number of experts who judge an item without agreement, each alone first (the paper: one).
    decide_hours
        The time for a manager to decide about a paused annotator; after that, held pay is released.
    ask_first
        Whether checks and rules open a review instead of pausing an annotator, so that a person decides first
        (Directive (EU) 2024/2831, article 10(5)). Until then the annotator gets more gold checks.
    """

    process: Process = Process.PAPER
    target: Target = field(default_factory=Target)
    second_round: SecondRound = SecondRound.ALONE
    gold_rate: float = 0.03
    gold_first: int = 5
    gold_first_items: int = 25
    gold_most_exposures: int = 40
    gold_test: GoldTest = field(default_factory=GoldTest)
    drift_run_length: int = 2_000
    inspection_rate: float = 0.2
    experts: int = 1
    decide_hours: int = 48
    ask_first: bool = False

    def __post_init__(self) -> None:
        if (self.gold_rate and not LEAST_RATE <= self.gold_rate <= 0.5) or not 0 <= self.inspection_rate <= 1:
            raise PolicyError("policy_rates")
        if not 0 <= self.gold_first <= self.gold_first_items:
            raise PolicyError("policy_gold_first")
        if self.gold_most_exposures < 1 or self.decide_hours < 1 or self.experts < 1:
            raise PolicyError("policy_least_one")
        if self.drift_run_length != 0 and not 100 <= self.drift_run_length <= 1_000_000:
            raise PolicyError("policy_drift")

    def as_data(self) -> dict[str, Any]:
        """Return the policy as JSON."""
        return asdict(self)


def policy_from(data: Mapping[str, Any]) -> Policy:
    """Return a stored policy.

    Raises
    ------
    ValueError
        A name is unknown or a value is out of its range.
    """
    known = {one.name for one in fields(Policy)}
    unknown = set(data) - known
    if unknown:
        raise PolicyError("policy_unknown", names=", ".join(sorted(unknown)))
    given = dict(data)
    if 0 < given.get("gold_rate", 0) < LEAST_RATE:  # published when that was not refused yet
        given["gold_rate"] = LEAST_RATE
    if "gold_test" in given:
        given["gold_test"] = GoldTest(**given["gold_test"])
    if "target" in given:
        given["target"] = Target(**given["target"])
    for name, kind in (("process", Process), ("second_round", SecondRound)):
        if name in given:
            given[name] = kind(given[name])
    return Policy(**given)
