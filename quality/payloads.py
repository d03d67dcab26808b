"""The payloads of the jobs of this app."""

from typing import Any, NotRequired, TypedDict

from jobs.payloads import CampaignPayload, FilePayload


class GoldImportPayload(CampaignPayload, FilePayload):
    """Import gold keys; ``experts`` confirm each first."""

    experts: int


class PilotKeysPayload(CampaignPayload):
    """Make gold keys of a pilot; ``experts`` confirm each first."""

    experts: int


class AuditDrawPayload(CampaignPayload):
    """Draw ``count`` labels by ``seed``; two experts judge the share ``twice`` of them."""

    count: int
    twice: float
    seed: int


class AuditPayload(TypedDict):
    """A job about an audit."""

    audit: int


class CasesSamplePayload(CampaignPayload):
    """Put ``count`` items, drawn by ``seed``, before the experts."""

    count: int
    seed: int
    experts: int
    every_answer: bool
    least: NotRequired[int]


class StudyPayload(CampaignPayload):
    """A job about the design of a study: the fields of a `StudyDesign`."""

    design: dict[str, Any]


class PersonWorkPayload(CampaignPayload):
    """Take an annotator's work since a moment out of what counts, or back in."""

    surrogate: str
    since: str  # as ISO 8601 writes it
    excludes: bool


class ReviewPayload(TypedDict):
    """A job about what became of a review."""

    review: int


class DryRunPayload(CampaignPayload):
    """Try a rule, as the fields of its form, on stored history."""

    rule: dict[str, Any]
