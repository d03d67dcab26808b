"""The setting of a campaign for a plan: the amount of work, the number of people, and the prices."""

from dataclasses import dataclass

from measures.agreement import Level
from web.errors import KeyedError


class PlanError(KeyedError):
    """A plan cannot be made from this input; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The values that are decided or assumed before any money is spent.

    Attributes
    ----------
    items, votes
        The number of items, and of votes on each in the first round.
    people
        The number of people; a few of them do most of the work (``skew``: the standard deviation of the logarithm).
    spam
        The share of the work that people who don't read would do without quality control.
    reward_cents, has_fees, training_cents
        The reward per answer; whether the marketplace takes its fifth; the training's pay, once per person.
    answers_a_day
        The number of answers per day of an average person.
    expert_minutes, inspection_seconds
        The time for one judgment of an expert, and for reading one answer.
    level
        The level of measurement, which determines the distance between two labels.
    """

    items: int
    votes: int = 3
    people: int = 100
    spam: float = 0.1
    skew: float = 1.0
    reward_cents: int = 5
    has_fees: bool = True
    training_cents: int = 0
    answers_a_day: float = 60.0
    expert_minutes: float = 2.0
    inspection_seconds: float = 20.0
    level: Level = Level.ORDINAL

    def __post_init__(self) -> None:
        if self.items < 1 or self.votes < 1 or self.people <= self.votes:
            raise PlanError("plan_size")
        if not 0 <= self.spam < 0.9 or self.reward_cents < 0 or self.answers_a_day <= 0:
            raise PlanError("plan_numbers")
