"""Payloads shared by most jobs, stored as JSON in job rows. Each app adds its own in its ``payloads.py``."""

from typing import NotRequired, TypedDict


class CampaignPayload(TypedDict):
    """A job about a campaign."""

    campaign: str  # its id


class FilePayload(TypedDict):
    """A job that reads a file: an upload, or (only from the command line) a local file."""

    name: str
    file: NotRequired[str]  # where the upload lies in the default storage
    path: NotRequired[str]
    encoding: NotRequired[str | None]
