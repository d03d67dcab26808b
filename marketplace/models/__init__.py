"""The marketplace's tables."""

from marketplace.models.control import ClockSetting, Fault, UniqueRequest, UsedSignature
from marketplace.models.hits import Assignment, Bonus, Hit, HitLayout, HitType, ReviewResult
from marketplace.models.messages import Delivery, NotificationSettings, WorkerMessage
from marketplace.models.money import LedgerEntry
from marketplace.models.people import AccessKey, Requester, SignupInvitation, Worker, WorkerBlock
from marketplace.models.qualifications import Qualification, QualificationRequest, QualificationType

__all__ = [
    "AccessKey",
    "Assignment",
    "Bonus",
    "ClockSetting",
    "Delivery",
    "Fault",
    "Hit",
    "HitLayout",
    "HitType",
    "LedgerEntry",
    "NotificationSettings",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "Requester",
    "ReviewResult",
    "SignupInvitation",
    "UniqueRequest",
    "UsedSignature",
    "Worker",
    "WorkerBlock",
    "WorkerMessage",
]
