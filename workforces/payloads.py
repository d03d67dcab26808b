"""The payloads of the jobs of this app."""

from typing import NotRequired, TypedDict

from jobs.payloads import FilePayload


class WorkforcePayload(TypedDict):
    """A job for a workforce; ``name`` is its name on pages."""

    workforce: int
    name: NotRequired[str]


class VisitsListPayload(FilePayload):
    """Confirm the visits in a list."""

    workforce: int
