"""What the jobs of this app are asked for."""

from typing import NotRequired

from jobs.payloads import OfCampaign, OfFile


class ItemsImport(OfCampaign, OfFile):
    """Import items from a table."""

    pilot: bool
    good_rows_only: bool
    people: NotRequired[int | None]  # of a pilot: how many answer each item


class NqImport(OfCampaign, OfFile):
    """Import a published Natural Questions file."""

    with_annotations: bool


class DocumentsImport(OfCampaign, OfFile):
    """Import pages from a file, or from a folder at ``path``."""


class Launch(OfCampaign):
    """Give the items of a batch their slots."""

    batch: int


class Extend(OfCampaign):
    """Ask for ``n`` annotations of each of ``sample`` items of a split."""

    split: str
    n: int
    sample: int
    seed: int
