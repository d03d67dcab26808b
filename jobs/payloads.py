"""What most jobs are asked for; each app adds its own in its ``payloads.py``. Stored as JSON in the job's row."""

from typing import NotRequired, TypedDict


class OfCampaign(TypedDict):
    """A job about a campaign."""

    campaign: str  # its id


class OfFile(TypedDict):
    """A job that reads a file: an upload, or (from the command line only) a file of this machine."""

    name: str
    file: NotRequired[str]  # where the upload lies in the default storage
    path: NotRequired[str]
    encoding: NotRequired[str | None]
