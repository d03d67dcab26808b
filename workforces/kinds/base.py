"""The interface of a kind of workforce: how people arrive, who confirms their identity, and how they leave.

A kind is a folder next to this file and one line in `workforces.kinds.registry`; `docs/how-to/add-a-workforce.md` shows
how to add one. The people of every kind claim slots and answer in the same way. Kinds differ in how a person arrives
and leaves, in who confirms and pays their work, in how they are notified, and in their periodic tasks.
"""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Protocol
from uuid import UUID

from web.errors import KeyedError
from workforces.money import FEE_SHARE, NO_FEES


class ArrivalRefused(KeyedError):
    """An address can't be used; the message gives the reason."""


class TermsError(KeyedError):
    """Invalid terms."""


class DraftError(KeyedError):
    """What was prepared for the other side can't be published."""


class NotConfigured(ValueError):
    """The marketplace or panel isn't configured in this installation."""


class Refused(Exception):
    """The other side understood the request and refused it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Unreachable(Exception):
    """The other side didn't respond; it is unknown whether the call had an effect."""


class PutOff(Unreachable):
    """The other side asked to try again later; the call had no effect."""


class Unknown(Exception):
    """An errand can't be carried out: a person or an object isn't known, or what became of it isn't."""


class Submission(Protocol):
    """A person's finished work in the other side's list."""

    @property
    def remote_id(self) -> str:
        """The other side's id of it."""

    @property
    def worker(self) -> str:
        """The other side's name of the person."""

    @property
    def accepted_at(self) -> datetime:
        """When the person began."""

    @property
    def submitted_at(self) -> datetime:
        """When they submitted it."""

    @property
    def auto_approval_at(self) -> datetime | None:
        """When the other side approves it by itself."""


class Outcome(StrEnum):
    """How a visit ends."""

    COMPLETED = "completed"
    SCREENED_OUT = "screened_out"
    NOTHING_LEFT = "nothing_left"


class Unsigned(StrEnum):
    """The treatment of people with unsigned addresses, which anyone could have written."""

    WAIT = "wait"  # their work counts when the other side's list confirms it
    COUNT = "count"  # it counts at once: a stated risk
    REFUSE = "refuse"  # they are not let in


@dataclass(frozen=True, slots=True)
class Arrival:
    """A person who arrives.

    ``worker`` is an unconfirmed claim unless ``is_signed``; ``remote_id`` identifies their assignment of ``posting``;
    ``submit_url`` is the address for submitting the finished work, if there is one. ``visit`` is random for an
    arrival that isn't signed; the visit's data and work are linked to this value only.
    """

    worker: str
    remote_id: str
    posting: str = ""
    submit_url: str = ""
    is_signed: bool = False
    visit: str = ""


@dataclass(frozen=True, slots=True)
class Farewell:
    """How a person leaves: a form to send, or an address to go to, with a completion code."""

    url: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms for the people of every workforce. Amounts in US cents, times in seconds."""

    reward_cents: int = 0
    items_per_ticket: int = 1
    assignment_seconds: int = 1800
    cap_cents: int | None = None
    floor_cents_per_hour: int = 0
    training_bonus_cents: int = 0
    most_bonus_cents: int = 1000
    unsigned: str = Unsigned.WAIT
    undo_seconds: int = 0  # how long a decision can be taken back before it is sent
    has_fees: bool = False  # whether the other side takes a fee on what is paid: `fee_share`
    confirm_seconds: int = 0  # how long finished work waits to be confirmed, beyond the time for a task

    @property
    def fee_share(self) -> Decimal:
        """The other side's fee, as a share of what is paid."""
        return FEE_SHARE if self.has_fees else NO_FEES

    def __post_init__(self) -> None:
        if self.reward_cents < 0 or self.training_bonus_cents < 0:
            raise TermsError("terms_amounts")
        if not 1 <= self.items_per_ticket <= 100:
            raise TermsError("terms_items")
        if self.assignment_seconds < 30:
            raise TermsError("terms_time")
        if not 0 <= self.confirm_seconds <= 31_536_000:
            raise TermsError("terms_confirm")
        if self.unsigned not in list(Unsigned):
            raise TermsError("terms_unsigned", known=", ".join(Unsigned))


@dataclass
class Reconciliation:
    """A comparison of the two ledgers. Amounts in cents, without fees; ``differences`` lists each difference."""

    hits: int = 0
    assignments: int = 0
    rewards_ours: int = 0
    rewards_theirs: int = 0
    bonuses_ours: int = 0
    bonuses_theirs: int = 0
    fees_ours: int = 0
    differences: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        """Return whether there are no differences."""
        return not self.differences


class Kind(ABC):
    """One kind of workforce. A method that a kind doesn't override does nothing.

    Attributes
    ----------
    key, title
        The name in rows and commands, and the name on pages.
    door
        Where people arrive: ``hit`` in a frame, ``join`` in a window of its own, or empty.
    leaves_by_code
        Whether people without work leave by a completion code too; a marketplace has its own way to return a task.
    refills
        Whether the other side gives a place to the next person if its work is refused.
    confirms
        Whether the other side confirms each submission, pays for it, and can keep people from taking more. Otherwise
        people are paid elsewhere, by a list that we provide.
    terms_class
        The class of the terms for its people.
    form, begin
        The dotted path of the form for its terms, and the text of its button. Kinds without a form can't be added.
    page
        The template of its part of the page *Workforces*; it gets ``row`` and the result of `shown`.
    tasks, urls
        Dotted paths of modules with its ``JOBS`` and ``SWEEPS``, and with its ``urlpatterns``.
    writes, has_books
        Whether `notify` reaches its people, and whether `reconcile` has a ledger to compare.
    list_job
        The kind of the job that reads a list of confirmed visits.
    has_hooks
        Whether the other side can notify us: `hooks`.
    """

    key: ClassVar[str]
    title: ClassVar[Any]
    door: ClassVar[str] = ""
    confirms: ClassVar[bool] = False
    leaves_by_code: ClassVar[bool] = False
    refills: ClassVar[bool] = False
    terms_class: ClassVar[type[Terms]] = Terms
    form: ClassVar[str] = ""
    begin: ClassVar[Any] = ""
    page: ClassVar[str] = ""
    tasks: ClassVar[str] = ""
    urls: ClassVar[str] = ""
    writes: ClassVar[bool] = False
    has_books: ClassVar[bool] = False
    list_job: ClassVar[str] = ""
    has_hooks: ClassVar[bool] = False

    def configured(self, _secret: str, _now: float) -> "Kind":
        """Return this kind with the data for checking an address: the secret of a workforce, and the time."""
        return self

    def source(self, campaign_id: UUID) -> str:
        """Return the namespace of its people's names: one campaign, unless the other side names people across campaigns."""
        return f"{self.key} {campaign_id}"

    # People arrive and leave.

    @abstractmethod
    def arrive(self, query: Mapping[str, str], terms: Any) -> Arrival | None:
        """Return the person who arrives by an address, or None for a visit without a person (a preview).

        Raises
        ------
        ArrivalRefused
        """

    @abstractmethod
    def farewell(self, arrival: Arrival, terms: Any, outcome: Outcome, code: str) -> Farewell:
        """Return how a person leaves."""

    def admit(self, *, workforce: Any, arrival: Arrival, now: datetime) -> Any:
        """Return the posting that an arrival comes from, if this kind has postings; refuse a posting that isn't ours."""
        return None

    # A manager looks after it.

    def shown(self, row: Any) -> dict[str, Any]:
        """Return the context for `page` of a workforce."""
        return {}

    def handed_out(self, row: Any) -> dict[str, str]:
        """Return the values that the manager gives to the other side: a link, a secret."""
        return {}

    def reconcile(self, *, workforce: Any) -> Reconciliation:
        """Compare our ledger with the other side's; change nothing.

        Raises
        ------
        NotConfigured
        """
        raise NotConfigured("there are no books on the other side")

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with this installation's connection to the other side, each with its remedy."""
        yield from ()

    def check_change(self, *, workforce: Any, terms: Mapping[str, Any]) -> None:
        """Refuse new terms that what exists on the other side can't take.

        Raises
        ------
        TermsError
        """

    def publish(self, *, workforce: Any, actor_id: UUID, now: datetime) -> None:
        """Let people there see what was prepared as a draft: from then on it costs money.

        Raises
        ------
        DraftError
            There is no draft.
        """
        raise DraftError("workforce_no_draft")

    def hooks(self, *, subscribe: bool) -> str:
        """Create the secret of the other side's notifications, or subscribe to them; return what to print.

        Raises
        ------
        NotConfigured, Refused, Unreachable
        """
        raise NotConfigured("the other side doesn't notify anyone")

    # Pay. Each of these is part of a larger transaction.

    def refuse_pay(
        self, *, ticket_id: int, reason: str, actor_id: UUID, due_at: datetime, now: datetime, mark: str = ""
    ) -> bool:
        """Refuse the pay of confirmed work; return whether this is the first decision."""
        return False

    def refuse_doubtful(self, *, ticket: Any, reason: str, actor_id: UUID, due_at: datetime, now: datetime) -> bool:
        """Refuse the pay of work that can't be matched; return whether this is the first decision."""
        return False

    def pay_refused(self, *, ticket: Any, reason: str, actor_id: UUID, now: datetime) -> Any:
        """Pay work whose pay was refused; return the errand to send, if there is one."""
        return None

    def let_pass(self, *, tickets: Any, now: datetime) -> None:
        """Settle the pay of confirmed work, so that no later refusal applies to it."""

    def has_refused(self, *, workforce: Any, surrogate_id: UUID) -> bool:
        """Return whether pay of other work by this person was refused, where each visit is refused separately."""
        return False

    # What people are told, and who is kept away.

    def notify(self, *, workforce: Any, surrogate_id: UUID, text: str, token: str, now: datetime) -> Any:
        """Send a message to a person, once per token; return the errand.

        Return None if this kind has no way to send messages.
        """
        return None

    def exclude(self, *, workforce: Any, surrogate_id: UUID, why: str, now: datetime) -> None:
        """Prevent a person from taking more work."""

    def let_back(self, *, workforce: Any, surrogate_id: UUID, now: datetime) -> None:
        """Allow a person to take work again."""


def signature_verify(secret: str, query: Mapping[str, str], *values: str, now: float) -> bool:
    """Return whether an address is signed: it contains an HMAC-SHA256 (hex) of its values and its expiry, line by line.

    Raises
    ------
    ArrivalRefused
        The signature is wrong or has expired.
    """
    given, expires = query.get("quorateSignature", ""), query.get("quorateExpires", "")
    if not given:
        return False
    right = hmac.new(secret.encode(), "\n".join([*values, expires]).encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(given.encode(), right.encode()):
        raise ArrivalRefused("arrival_signature")
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 12) or int(expires) < now:
        raise ArrivalRefused("arrival_expired")
    return True


def terms_from(kind: Kind, data: Mapping[str, Any]) -> Any:
    """Return stored terms as an object.

    Raises
    ------
    ValueError
        A name is unknown or a value is out of its range.
    """
    try:
        return kind.terms_class(**data)
    except TypeError as error:
        raise TermsError("terms_unknown", kind=kind.key, problem=str(error)) from error
