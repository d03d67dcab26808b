"""What a campaign is to be, for a plan: how much there is to do, by how many people, at which price."""

from dataclasses import dataclass

from measures.agreement import Level
from web.errors import KeyedError


class PlanError(KeyedError):
    """A plan cannot be made of what was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is decided, or assumed, before anything is spent.

    Attributes
    ----------
    items, votes
        How many items, and how many votes of each in the first round.
    people
        Who will take part; a few of them do most of the work (``skew``: the standard deviation of the logarithm).
    spam
        The share of the work that people who do not read would do if quality control did not stop them.
    reward_cents, has_fees, training_cents
        Of each answer; whether the marketplace takes its fifth; once for each person.
    answers_a_day
        Of an average person.
    expert_minutes, inspection_seconds
        What one judgment of an expert takes, and reading one answer.
    level
        How far apart two labels are.
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
