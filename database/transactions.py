"""Running state changes as whole transactions, and again after temporary database errors."""

import logging
import random
import sqlite3
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections, transaction

logger = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")

# PostgreSQL: serialization failure, deadlock, lock timeout and statement timeout; and a server that goes away or is full.
_BUSY_STATES = {"40001", "40P01", "55P03", "57014"}
_AWAY_STATES = {"57P01", "57P02", "57P03", "53300"}
ATTEMPTS = 4
PAUSE_SECONDS = 0.05


class NotInTransaction(RuntimeError):
    """A step that must be part of a larger transaction was called outside of one."""


class InTransaction(RuntimeError):
    """Code that waits for other systems was called inside a transaction, which would hold locks meanwhile."""


def refuse_transaction() -> None:
    """Refuse to run inside a transaction: a call over a network must not hold locks."""
    if connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise InTransaction("call this outside of transaction.atomic()")


def require_transaction() -> None:
    """Refuse to run outside a transaction: the caller's change and this one must be saved together."""
    if not connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise NotInTransaction("call this inside transaction.atomic()")


def is_transient(error: BaseException) -> bool:
    """Return whether the same transaction may well succeed when it is run again.

    True of deadlocks, serialization failures, lock and statement timeouts, lost connections, and SQLite's
    "database is locked"; never of a constraint or a mistake in a statement.
    """
    return _state_of(error) in _BUSY_STATES or _is_locked(error) or is_away(error)


def is_away(error: BaseException) -> bool:
    """Return whether the database cannot be reached: its connection was refused, ended or lost, or it takes no more."""
    state = _state_of(error)
    if state is not None:
        return state in _AWAY_STATES or state.startswith("08")
    # Without a state: the connection was lost before the server could say anything.
    lost = isinstance(error, InterfaceError) or (
        isinstance(error, OperationalError) and "connection" in str(error).lower()
    )
    return lost and not _is_locked(error)


def _state_of(error: BaseException) -> str | None:
    """Return PostgreSQL's code for an error, if it gave one."""
    cause = error.__cause__ if isinstance(error, OperationalError | InterfaceError) else error
    return getattr(cause, "sqlstate", None)


def _is_locked(error: BaseException) -> bool:
    text = str(error).lower()
    if isinstance(error, sqlite3.OperationalError):
        return "locked" in text
    return "database is locked" in text or "database table is locked" in text


def durable(service: Callable[P, R]) -> Callable[P, R]:
    """Run a service as one transaction, and repeat it a few times after temporary database errors.

    Within another transaction, it is a part of that one, which is repeated by the code that opened it.
    """

    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        connection = connections[DEFAULT_DB_ALIAS]
        for attempt in range(1, ATTEMPTS + 1):
            is_outermost = not connection.in_atomic_block
            try:
                with transaction.atomic():
                    return service(*args, **kwargs)
            except (OperationalError, InterfaceError) as error:
                if not is_outermost or attempt == ATTEMPTS or not is_transient(error):
                    raise
                logger.info("%s is run again: %s", service.__qualname__, error)
                if not connection.is_usable():
                    connection.close()
                time.sleep(PAUSE_SECONDS * 2**attempt * random.random())  # noqa: S311  only a pause
        raise AssertionError("the last attempt returns or raises")

    return run
