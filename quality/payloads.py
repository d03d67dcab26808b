"""What the jobs of this app are asked for."""

from typing import Any, NotRequired, TypedDict

from jobs.payloads import OfCampaign, OfFile


class GoldImport(OfCampaign, OfFile):
    """Import gold keys; ``experts`` confirm each first."""

    experts: int


class PilotKeys(OfCampaign):
    """Make gold keys of a pilot; ``experts`` confirm each first."""

    experts: int


class AuditDraw(OfCampaign):
    """Draw ``count`` labels by ``seed``; two experts judge the share ``twice`` of them."""

    count: int
    twice: float
    seed: int


class OfAudit(TypedDict):
    """A job about an audit."""

    audit: int


class CasesSample(OfCampaign):
    """Put ``count`` items, drawn by ``seed``, before the experts."""

    count: int
    seed: int
    experts: int
    every_answer: bool
    least: NotRequired[int]


class OfDesign(OfCampaign):
    """A job about the design of a study: the fields of a `StudyDesign`."""

    design: dict[str, Any]


class PersonWork(OfCampaign):
    """Take an annotator's work since a moment out of what counts, or back in."""

    surrogate: str
    since: str  # as ISO 8601 writes it
    excludes: bool


class OfReview(TypedDict):
    """A job about what became of a review."""

    review: int


class DryRun(OfCampaign):
    """Try a rule, as the fields of its form, on stored history."""

    rule: dict[str, Any]
