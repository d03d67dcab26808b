"""How state changes are made whole."""

from django.db import DEFAULT_DB_ALIAS, connections


class NotInTransaction(RuntimeError):
    """A step that must be part of a larger change was called on its own."""


def require_transaction() -> None:
    """Refuse to go on outside a transaction: the caller's change and this one belong together."""
    if not connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise NotInTransaction("call this inside transaction.atomic()")
