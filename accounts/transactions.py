"""How state changes are made whole."""

from django.db import DEFAULT_DB_ALIAS, connections


class NotInTransaction(RuntimeError):
    """A step that must be part of a larger change was called on its own."""


class InTransaction(RuntimeError):
    """Something that waits for others was called while the database waits for us."""


def refuse_transaction() -> None:
    """Refuse to go on inside a transaction: no call over a network may hold locks."""
    if connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise InTransaction("call this outside of transaction.atomic()")


def require_transaction() -> None:
    """Refuse to go on outside a transaction: the caller's change and this one belong together."""
    if not connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise NotInTransaction("call this inside transaction.atomic()")
