"""The payloads of the jobs of this app."""

from typing import Any, NotRequired, TypedDict

from jobs.payloads import CampaignPayload, FilePayload


class GoldImportPayload(CampaignPayload, FilePayload):
    """Import gold keys; ``experts`` is the number of experts who confirm each first."""

    experts: int


class PilotKeysPayload(CampaignPayload):
    """Make gold keys of a pilot; ``experts`` is the number of experts who confirm each first."""

    experts: int


class AuditDrawPayload(CampaignPayload):
    """Draw ``count`` labels; two experts judge the share ``twice`` of them.

    Without a ``seed``, the server has one that nobody can choose.
    """

    count: int
    twice: float
    seed: int | None


class AuditPayload(TypedDict):
    """A job for an audit."""

    audit: int


class CertificateFreezePayload(CampaignPayload):
    """Freeze the labels of a campaign for a certificate; see `quality.certificates.models.Certificate`."""

    error: float
    risk: float
    guess: float | None
    twice: float
    source: str
    commitments: dict[str, str]


class CertificatePayload(TypedDict):
    """A job for a certificate."""

    certificate: int


class CasesSamplePayload(CampaignPayload):
    """Send ``count`` items, drawn with ``seed``, to the experts."""

    count: int
    seed: int
    experts: int
    every_answer: bool
    least: NotRequired[int]


class StudyPayload(CampaignPayload):
    """A job for the design of a study: the fields of a `StudyDesign`."""

    design: dict[str, Any]


class PersonWorkPayload(CampaignPayload):
    """Exclude an annotator's work since a moment from the counted work, or count it again."""

    surrogate: str
    since: str  # as ISO 8601 writes it
    excludes: bool


class ReviewPayload(TypedDict):
    """A job that carries out the decision of a review."""

    review: int


class DryRunPayload(CampaignPayload):
    """Test a rule, given as the fields of its form, on stored history."""

    rule: dict[str, Any]


class PlanPayload(CampaignPayload):
    """Forecast a campaign; ``asked`` has the fields of the form."""

    asked: dict[str, Any]
