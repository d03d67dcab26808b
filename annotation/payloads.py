"""The payloads of the jobs of this app."""

from typing import NotRequired

from jobs.payloads import CampaignPayload, FilePayload


class ItemsImportPayload(CampaignPayload, FilePayload):
    """Import items from a table."""

    pilot: bool
    good_rows_only: bool
    people: NotRequired[int | None]  # of a pilot: how many answer each item
    dry_run: NotRequired[bool]  # check all rows and import none


class NqImportPayload(CampaignPayload, FilePayload):
    """Import a published Natural Questions file."""

    with_annotations: bool


class DocumentsImportPayload(CampaignPayload, FilePayload):
    """Import pages from a file, or from a folder at ``path``."""


class LaunchPayload(CampaignPayload):
    """Give the items of a batch their slots."""

    batch: int


class ExtendPayload(CampaignPayload):
    """Ask for ``n`` annotations of each of ``sample`` items of a split."""

    split: str
    n: int
    sample: int
    seed: int
