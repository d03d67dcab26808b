"""Move a requester's money. Every movement is an entry; balances are updated under the requester's lock."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from database.statements import Insert, Save, Statement
from marketplace.models import Assignment, Bonus, Hit, LedgerEntry, Requester
from marketplace.protocol.errors import RequestError

POTS = ("deposited", "available", "held", "paid", "fees")


_LOCKED = Statement(lambda pk: Requester.objects.select_for_update(no_key=True).filter(pk=pk), int)
_BALANCES = Save(Requester, "deposited", "available", "held", "paid", "fees")
_ENTRY = Insert(LedgerEntry)


def ledger_post(
    *,
    requester_id: int,
    kind: LedgerEntry.Kind,
    at: datetime,
    hit: Hit | None = None,
    assignment: Assignment | None = None,
    bonus: Bonus | None = None,
    **amounts: Decimal,
) -> None:
    """Add an entry and update the balances. Call it in a transaction, after locking any HIT.

    Parameters
    ----------
    amounts
        Changes in dollars of ``deposited``, ``available``, ``held``, ``paid`` and ``fees``; the first is
        the sum of the others.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.InsufficientFunds: the money was not moved.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("money moves inside a transaction only")
    requester: Requester = _LOCKED.first(requester_id)
    for pot, amount in amounts.items():
        setattr(requester, pot, getattr(requester, pot) + amount)
    if requester.available < 0:
        raise RequestError(
            "InsufficientFunds",
            "This Requester has insufficient funds in their account to complete this transaction. "
            "Deposit more with: manage.py marketplace_requester NAME --deposit DOLLARS",
        )
    _BALANCES.run(requester)
    _ENTRY.run(
        LedgerEntry(requester_id=requester_id, kind=kind, at=at, hit=hit, assignment=assignment, bonus=bonus, **amounts)
    )


def money_deposit(*, requester: Requester, amount: Decimal, now: datetime) -> None:
    """Add money to a requester's account."""
    if amount <= 0:
        raise ValueError("a deposit is more than nothing")
    with transaction.atomic():
        ledger_post(
            requester_id=requester.pk, kind=LedgerEntry.Kind.DEPOSIT, at=now, deposited=amount, available=amount
        )
