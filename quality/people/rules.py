"""Rules on people's behavior: a collector, a condition, an act. Pure: a dry run and a live run use the same code.

A person's history is a sequence of facts. Whenever a fact is added, a rule looks at the latest facts of its collector.
If its condition holds, the rule fires once. It fires again only after a manager has reactivated the person. A live run
reads the whole history each time and carries out the acts that weren't carried out before, so a dry run over the same
facts names the same acts.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from web.errors import KeyedError


class RuleError(KeyedError):
    """A rule is invalid."""


class Kind(StrEnum):
    """The subject of a fact."""

    CHECK = "check"  # a gold check: whether it was missed
    INSPECTION = "inspection"  # a manual check: whether it was found wrong
    ANSWER = "answer"  # a submission: (seconds, what was answered)
    SKIP = "skip"  # an item that was skipped, but for what upsets
    STANDING = "standing"  # (the standing that a person got, whether a manager decided that)


class Collector(StrEnum):
    """The quantity computed from the latest facts."""

    GOLD = "gold"  # share of gold checks that were missed
    INSPECTION = "inspection"  # share of inspected answers that were wrong
    SPEED = "speed"  # median seconds of answers
    SAME = "same"  # share of the most frequent answer
    SKIPS = "skips"  # share of items that were skipped, among those answered and skipped


class Act(StrEnum):
    """What a rule does."""

    NOTIFY = "notify"  # tells managers, on the page of rules
    WARN = "warn"
    PAUSE = "pause"  # puts the person before a manager


# In which standings each act makes sense.
ALLOWED = {
    Act.NOTIFY: ("active", "warned", "paused"),
    Act.WARN: ("active",),
    Act.PAUSE: ("active", "warned"),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """An event at a time; ``until`` is set if it was reversed, such as an answer that was undone.

    ``key`` distinguishes facts of one kind, and is their order.
    """

    at: datetime
    kind: Kind
    key: int
    value: Any
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition for a rule to fire: its value is above or below a limit.

    The value is computed over the last ``window`` facts, if there are at least ``least``.
    """

    collector: Collector
    is_above: bool
    limit: float
    window: int
    least: int
    act: Act

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.window:
            raise RuleError("rule_window")


@dataclass(frozen=True, slots=True)
class Firing:
    """The firing of a rule at a fact, with the computed value."""

    at: datetime
    kind: Kind
    key: int
    value: float


def _median_seconds(values: Sequence[Any]) -> float:
    return float(statistics.median(seconds for seconds, _ in values))


def _most_frequent(values: Sequence[Any]) -> float:
    return max(Counter(said for _, said in values).values()) / len(values)


def _mean(values: Sequence[Any]) -> float:
    return statistics.fmean(map(float, values))


_COLLECTORS: dict[Collector, tuple[frozenset[Kind], Callable[[Sequence[Any]], float]]] = {
    Collector.GOLD: (frozenset({Kind.CHECK}), _mean),
    Collector.INSPECTION: (frozenset({Kind.INSPECTION}), _mean),
    Collector.SPEED: (frozenset({Kind.ANSWER}), _median_seconds),
    Collector.SAME: (frozenset({Kind.ANSWER}), _most_frequent),
    Collector.SKIPS: (
        frozenset({Kind.ANSWER, Kind.SKIP}),
        lambda values: sum(value is None for value in values) / len(values),
    ),
}


def kinds_of(collector: Collector) -> frozenset[Kind]:
    """Return the kinds of facts that a collector reads."""
    return _COLLECTORS[collector][0]


def firings(condition: Condition, facts: Iterable[Fact]) -> list[Firing]:
    """Return the firings of a rule over one person's facts, in their order.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> rule = Condition(Collector.GOLD, True, 0.5, window=4, least=2, act=Act.PAUSE)
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> missed = [Fact(start + timedelta(minutes=n), Kind.CHECK, n, n != 1) for n in range(5)]
    >>> [(one.key, one.value) for one in firings(rule, missed)]
    [(2, 0.6666666666666666)]
    """
    kinds, value_of = _COLLECTORS[condition.collector]
    found: list[Firing] = []
    recent: list[Fact] = []
    standing, is_armed = "active", True
    for fact in sorted(facts, key=lambda fact: (fact.at, fact.kind == Kind.STANDING, fact.key)):
        if fact.kind == Kind.STANDING:
            standing, is_decided = fact.value
            if standing == "active" and is_decided:  # who begins again is judged by what they do from now on
                is_armed, recent = True, []
            continue
        if fact.kind not in kinds:
            continue
        recent = [one for one in [*recent, fact][-condition.window :] if one.until is None or one.until > fact.at]
        if not is_armed or len(recent) < condition.least or standing not in ALLOWED[condition.act]:
            continue
        value = value_of([one.value for one in recent])
        if (value > condition.limit) if condition.is_above else (value < condition.limit):
            found.append(Firing(fact.at, fact.kind, fact.key, value))
            is_armed = False
    return found
