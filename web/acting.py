"""The API token by which a request acts. Audit events and jobs name it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[str] = ContextVar("acting_token", default="")


def acting_token() -> str:
    """Return the id of the token by which the request or job at hand acts; "" for people on pages, and for rules."""
    return _current.get()


@contextmanager
def acting_by(token: str) -> Iterator[None]:
    """Have audit events and jobs inside the block name a token."""
    before = _current.set(token)
    try:
        yield
    finally:
        _current.reset(before)
