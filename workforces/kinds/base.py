"""What a kind of workforce is: how people arrive, who vouches for them, and how they leave.

A kind is a folder beside this file and one line in `workforces.kinds.registry`. The people of every kind
claim slots and answer in the same way; the kinds differ in how a person arrives, whether a submission has
to be confirmed, and how a person leaves.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol


class ArrivalRefused(ValueError):
    """An address cannot be followed; the message says what is wrong with it."""


class Outcome(StrEnum):
    """How a visit ends."""

    COMPLETED = "completed"
    SCREENED_OUT = "screened_out"
    NOTHING_LEFT = "nothing_left"


class Unsigned(StrEnum):
    """What becomes of people whose address nobody signed, so that anybody could have written it."""

    WAIT = "wait"  # their work counts when the other side's list confirms it
    COUNT = "count"  # it counts at once: a stated risk
    REFUSE = "refuse"  # they are not let in


@dataclass(frozen=True, slots=True)
class Arrival:
    """A person at the door.

    ``worker`` is a claim unless ``is_signed``; ``remote_id`` names their hold on ``posting``;
    ``submit_url`` is where the finished work is handed in, if there is such a place. ``visit`` is drawn at random
    for an arrival that is not signed: what it sees and does is known by that alone.
    """

    worker: str
    remote_id: str
    posting: str = ""
    submit_url: str = ""
    is_signed: bool = False
    visit: str = ""


@dataclass(frozen=True, slots=True)
class Farewell:
    """How a person leaves: a form to send, or a place to go to, with a code to take along."""

    url: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What every workforce agrees with the people who come by it. Amounts in US cents, times in seconds."""

    reward_cents: int = 0
    items_per_ticket: int = 1
    assignment_seconds: int = 1800
    cap_cents: int | None = None
    floor_cents_per_hour: int = 0
    training_bonus_cents: int = 0
    most_bonus_cents: int = 1000
    unsigned: str = Unsigned.WAIT
    confirm_seconds: int = 0  # how long finished work waits to be confirmed, beyond the time for a task

    def __post_init__(self) -> None:
        if self.reward_cents < 0 or self.training_bonus_cents < 0:
            raise ValueError("amounts cannot be negative")
        if not 1 <= self.items_per_ticket <= 100:
            raise ValueError("items_per_ticket must lie between 1 and 100")
        if self.assignment_seconds < 30:
            raise ValueError("assignment_seconds must be at least 30")
        if not 0 <= self.confirm_seconds <= 31_536_000:
            raise ValueError("confirm_seconds must lie between 0 and 31,536,000")
        if self.unsigned not in list(Unsigned):
            raise ValueError(f"unsigned must be one of {', '.join(Unsigned)}")


class Kind(Protocol):
    """One kind of workforce."""

    key: ClassVar[str]
    door: ClassVar[str]  # the address people come by: "hit" in a frame, "join" in a window of its own, or none
    confirms: ClassVar[bool]  # whether work counts only when the other side has confirmed it
    terms_class: ClassVar[type[Terms]]

    def arrive(self, query: Mapping[str, str], terms: Terms) -> Arrival | None:
        """Return who came by an address, or None for a look without a person (a preview).

        Raises
        ------
        ArrivalRefused
        """
        ...

    def farewell(self, arrival: Arrival, terms: Terms, outcome: Outcome, code: str) -> Farewell:
        """Return how a person leaves."""
        ...


def signature_verify(secret: str, query: Mapping[str, str], *values: str, now: float) -> bool:
    """Return whether an address is signed; it holds the HMAC-SHA256 (hex) of its values and its expiry, line by line.

    Raises
    ------
    ArrivalRefused
        The signature is wrong or its time has passed.
    """
    given, expires = query.get("quorateSignature", ""), query.get("quorateExpires", "")
    if not given:
        return False
    right = hmac.new(secret.encode(), "\n".join([*values, expires]).encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(given.encode(), right.encode()):
        raise ArrivalRefused("the signature does not fit this address")
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 12) or int(expires) < now:
        raise ArrivalRefused("this address has expired: open the task again from where you found it")
    return True


def terms_from(kind: Kind, data: Mapping[str, Any]) -> Any:
    """Return the terms that were stored.

    Raises
    ------
    ValueError
        A name is unknown or a value is out of its range.
    """
    try:
        return kind.terms_class(**data)
    except TypeError as error:
        raise ValueError(f"unknown in the terms of {kind.key}: {error}") from error
