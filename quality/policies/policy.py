"""What a campaign decided about its quality control, as one frozen value with a version."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any

from measures.gold_tests import GoldTest
from measures.targets import Target
from web.errors import KeyedError

LEAST_RATE = 0.001  # of gold checks, besides none at all


class PolicyError(KeyedError):
    """A campaign cannot have a policy."""


class Process(StrEnum):
    """How votes become labels, and how many of them there are."""

    PAPER = "paper"
    FIXED = "fixed"
    TARGET = "target"


class SecondRound(StrEnum):
    """What is counted after the second round; the ANTIQUE paper does not say."""

    ALONE = "alone"
    POOLED = "pooled"


@dataclass(frozen=True, slots=True)
class Policy:
    """The process of ANTIQUE (Hashemi et al. 2020, section 3.1) and what the paper leaves open.

    Attributes
    ----------
    process
        ``paper``: a strict majority decides, else a second round, else experts. ``fixed``: the label with most votes of
        the first round, else experts. ``target``: votes where the doubt is (`measures.targets`).
    target
        What ``target`` aims at; of no consequence to the others.
    second_round
        Of ``paper``. ``alone``: strict majority of the second round; ``pooled``: unique plurality of both rounds.
    gold_rate
        Share of gold checks among what a person sees after the first items.
    gold_first, gold_first_items
        So many checks among so many first items.
    gold_most_exposures
        How often one key may be shown, to all people together.
    gold_test
        When checks warn and pause.
    drift_run_length
        After how many checks, on average, late drift is suspected of a good annotator (`measures.drift`); 0: never.
    inspection_rate
        Share of each person's submissions that is read by hand.
    experts
        How many experts judge an item without agreement, each alone first (the paper: one).
    decide_hours
        How long a manager has to decide about an annotator who was paused; then what is held is paid.
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
    """Return the policy that was stored.

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
