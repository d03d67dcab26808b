"""What the jobs of this app are asked for."""

from typing import NotRequired, TypedDict

from jobs.payloads import OfFile


class OfWorkforce(TypedDict):
    """A job about a workforce; ``name`` is what its page calls it."""

    workforce: int
    name: NotRequired[str]


class VisitsList(OfFile):
    """Confirm the visits that a list names."""

    workforce: int
