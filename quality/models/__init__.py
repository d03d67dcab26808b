"""The rows of the quality app."""

from quality.models.audits import Audit, AuditItem
from quality.models.checks import (
    Flag,
    GoldCheck,
    GoldKey,
    GoldKeyState,
    Inspection,
    InspectionTally,
    InspectionVerdict,
    Unexamined,
)
from quality.models.labels import (
    PENDING,
    REFERENCE,
    Case,
    CaseMessage,
    CaseReason,
    CaseState,
    Opinion,
    Phase,
    PolicyVersion,
    Rule,
    Verdict,
)
from quality.models.people import (
    Review,
    ReviewState,
    RuleFiring,
    WatchRule,
)
from quality.models.snapshots import (
    BehaviourSnapshot,
    CampaignPlan,
    QualitySnapshot,
    StudySnapshot,
    TargetSnapshot,
)
from quality.models.waves import Wave

__all__ = [
    "PENDING",
    "REFERENCE",
    "Audit",
    "AuditItem",
    "BehaviourSnapshot",
    "CampaignPlan",
    "Case",
    "CaseMessage",
    "CaseReason",
    "CaseState",
    "Flag",
    "GoldCheck",
    "GoldKey",
    "GoldKeyState",
    "Inspection",
    "InspectionTally",
    "InspectionVerdict",
    "Opinion",
    "Phase",
    "PolicyVersion",
    "QualitySnapshot",
    "Review",
    "ReviewState",
    "Rule",
    "RuleFiring",
    "StudySnapshot",
    "TargetSnapshot",
    "Unexamined",
    "Verdict",
    "WatchRule",
    "Wave",
]
