"""The models of the quality app, by subject."""

from quality.certificates.models import Certificate, CertificateLabel, CertificateLine, CertificateState
from quality.dashboard.models import CampaignPlan, QualitySnapshot
from quality.examination.models import Unexamined
from quality.experts.models import (
    PENDING,
    REFERENCE,
    Case,
    CaseMessage,
    CaseReason,
    CaseState,
    Inspection,
    InspectionTally,
    InspectionVerdict,
    Opinion,
    Phase,
)
from quality.flags.models import Flag
from quality.gold.models import GoldCheck, GoldKey, GoldKeyState
from quality.labels.models import Audit, AuditItem, Rule, TargetSnapshot, Verdict, Wave
from quality.people.models import BehaviourSnapshot, Review, ReviewState, RuleFiring, WatchRule
from quality.policies.models import PolicyVersion
from quality.studies.models import StudySnapshot

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
    "Certificate",
    "CertificateLabel",
    "CertificateLine",
    "CertificateState",
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
