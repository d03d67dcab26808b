"""The payloads of the jobs of this app."""

from typing import NotRequired, TypedDict

from jobs.payloads import FilePayload


class WorkforcePayload(TypedDict):
    """A job about a workforce; ``name`` is what its page calls it."""

    workforce: int
    name: NotRequired[str]


class VisitsListPayload(FilePayload):
    """Confirm the visits that a list names."""

    workforce: int
