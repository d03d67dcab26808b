"""Which function does which kind of job."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.work import Work

Handler = Callable[["Work"], dict[str, Any]]

HANDLERS: dict[str, Handler] = {}


def handles(kind: str) -> Callable[[Handler], Handler]:
    """Register the function that does a kind of job; it returns the job's result."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register
