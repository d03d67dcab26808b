"""People: how each reads, errs, hurries, tires and cheats.

Everything follows from a seed, a number and the text that is read.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from simulation.model import CrowdModel, Floats, Pace
from simulation.world import chance_of


class Kind(StrEnum):
    """The way a person works: honest, or without reading in one of several ways."""

    HONEST = "honest"
    RANDOM = "random"  # any label
    CONSTANT = "constant"  # always the same
    COPIER = "copier"  # gives the answers of another person
    SCRIPT = "script"  # any label, at the same pace, by clicks that no device made


@dataclass(frozen=True, slots=True)
class Habits:
    """How often people do things other than answering, and how their care declines.

    Attributes
    ----------
    returns, abandons
        How often a task is returned unread, or abandoned without notice.
    skips
        How often an item is skipped.
    twice
        How often a form is sent twice, as by a double click.
    undoes
        How often the last answer is undone and given again.
    tabs
        How often the same page is open twice, so that an outdated form is sent.
    leaves
        How often a person looks elsewhere while a page is open.
    fatigue
        How much of their care people have lost after 100 answers in a row; a pause brings it back.
    drift
        The probability that an honest person loses all care for good after some hundred answers.
    """

    returns: float = 0.02
    abandons: float = 0.005
    skips: float = 0.01
    twice: float = 0.01
    undoes: float = 0.01
    tabs: float = 0.005
    leaves: float = 0.08
    fatigue: float = 0.03
    drift: float = 0.01


@dataclass
class Person:
    """One member of a crowd.

    ``refused``: how often a page refused their answer, by kind of answer.
    """

    seed: int
    number: int
    care: float
    habit: Floats
    load: float = 1.0
    kind: Kind = Kind.HONEST
    pace: Pace = field(default_factory=Pace)
    habits: Habits = field(default_factory=Habits)
    copies: "Person | None" = None
    answered: int = 0
    in_a_row: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        chance = chance_of(self.seed, "person", self.number)
        self.hurry = float(np.exp(chance.normal(0, self.pace.between)))
        self.drifts_after = int(chance.uniform(100, 600)) if chance.random() < self.habits.drift else None

    def chance(self, *about: object) -> np.random.Generator:
        """Return the random generator for this person's choices about something: the same each time."""
        return chance_of(self.seed, self.number, *about)

    def attention(self) -> float:
        """Return the probability that this person reads the next item with care."""
        if self.kind is not Kind.HONEST or (self.drifts_after is not None and self.answered > self.drifts_after):
            return 0.0
        rested: float = (1 - self.habits.fatigue) ** (self.in_a_row / 100)
        return self.care * rested

    def choose(self, key: str, said: Floats) -> int:
        """Return the index of the label that this person chooses, given careful readers' shares for the item."""
        if self.kind is Kind.COPIER and self.copies is not None:
            return self.copies.choose(key, said)
        chance = self.chance("choose", key)
        shares = said if chance.random() < self.attention() else self.habit
        return int(min(np.searchsorted(np.cumsum(shares), chance.random() * shares.sum()), len(shares) - 1))

    def seconds(self, key: str, words: int, share: float = 1.0) -> float:
        """Return how long this person looks at a text; ``share`` is the fraction of the time for a whole item."""
        chance = self.chance("seconds", key)
        if self.kind is Kind.SCRIPT:
            return 2.0
        median = self.pace.median * share * (max(words, 1) / self.pace.words) ** self.pace.length * self.hurry
        return float(max(0.8, median * np.exp(chance.normal(0, self.pace.within)) * (1 if self.care > 0.2 else 0.4)))

    def does(self, what: str, key: str) -> bool:
        """Return whether this person shows one of their habits at some point."""
        rate: float = getattr(self.habits, what)
        return bool(self.chance(what, key).random() < rate)

    def done(self) -> None:
        """Record that an item was answered."""
        self.answered += 1
        self.in_a_row += 1

    def rested(self) -> None:
        """Record a pause."""
        self.in_a_row = 0


# Shares of those who do not read.
SPAM = {Kind.RANDOM: 0.4, Kind.CONSTANT: 0.25, Kind.COPIER: 0.15, Kind.SCRIPT: 0.2}


def people_of(
    model: CrowdModel, count: int, *, seed: int, spam: float = 0.0, skew: float = 1.0, habits: Habits | None = None
) -> list[Person]:
    """Return people drawn from a model.

    Parameters
    ----------
    spam
        The share of all work done by people who don't read, in addition to those in the model.
    skew
        Standard deviation of the logarithm of the amount of work per person: at 1, a fifth of them do half of the work.
    """
    chance = chance_of(seed, "people")
    places, loads = model.people(count, chance), np.exp(chance.normal(0, skew, count))
    kinds = [
        list(SPAM)[int(chance.choice(len(SPAM), p=list(SPAM.values())))] if is_spam else Kind.HONEST
        for is_spam in spam_among(loads, spam, chance)
    ]
    people: list[Person] = []
    for number, (place, load, kind) in enumerate(zip(places, loads, kinds, strict=True)):
        habit = _habit_of(kind, model.habits[place], chance)
        people.append(
            Person(seed, number, float(model.care[place]), habit, float(load), kind, model.pace, habits or Habits())
        )
    honest = [person for person in people if person.kind is Kind.HONEST]
    for person in people:
        if person.kind is Kind.COPIER and honest:
            person.copies = honest[int(chance.integers(len(honest)))]
    return people


def spam_among(loads: Floats, share: float, chance: np.random.Generator) -> NDArray[np.bool_]:
    """Draw people who don't read until they do about the given share of all work; shape (people,)."""
    is_spam, left = np.zeros(len(loads), dtype=bool), share * loads.sum()
    for place in chance.permutation(len(loads)):
        if loads[place] / 2 <= left:  # the share is met better with this person than without
            is_spam[place], left = True, left - loads[place]
    return is_spam


def _habit_of(kind: Kind, own: Floats, chance: np.random.Generator) -> Floats:
    if kind is Kind.CONSTANT:
        found = np.zeros(len(own))
        found[int(chance.integers(len(own)))] = 1.0
        return found
    return np.full(len(own), 1 / len(own)) if kind in (Kind.RANDOM, Kind.SCRIPT) else own
