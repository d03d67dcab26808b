"""Rows as the structures of the service model. Members without a value are left out, never null."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from marketplace.models import (
    Assignment,
    Bonus,
    Hit,
    Qualification,
    QualificationRequest,
    QualificationType,
    WorkerBlock,
)


def money(amount: Decimal) -> str:
    """Return a CurrencyAmount."""
    return f"{amount:.2f}"


def time(at: datetime | None) -> float | None:
    """Return epoch seconds with milliseconds: a number on the wire, not a string."""
    return None if at is None else round(at.timestamp(), 3)


def present(**members: Any) -> dict[str, Any]:
    """Return the members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def hit(row: Hit) -> dict[str, Any]:
    """Return a HIT; ``hit_type`` has to be loaded."""
    kind = row.hit_type
    return present(
        HITId=row.hit_id,
        HITTypeId=kind.hit_type_id,
        HITGroupId=kind.group_id,
        HITLayoutId=row.layout_id,
        CreationTime=time(row.created_at),
        Title=kind.title,
        Description=kind.description,
        Question=row.question,
        Keywords=kind.keywords,
        HITStatus=row.state,
        MaxAssignments=row.max_assignments,
        Reward=money(row.reward),
        AutoApprovalDelayInSeconds=kind.auto_approval_seconds,
        Expiration=time(row.expires_at),
        AssignmentDurationInSeconds=kind.assignment_seconds,
        RequesterAnnotation=row.annotation,
        QualificationRequirements=kind.requirements,
        HITReviewStatus="NotReviewed",
        NumberOfAssignmentsPending=row.pending,
        NumberOfAssignmentsAvailable=row.available,
        NumberOfAssignmentsCompleted=row.completed,
    )


def assignment(row: Assignment) -> dict[str, Any]:
    """Return a submitted assignment; ``hit`` and ``worker`` have to be loaded."""
    return present(
        AssignmentId=row.assignment_id,
        WorkerId=row.worker.worker_id,
        HITId=row.hit.hit_id,
        AssignmentStatus=row.state,
        AutoApprovalTime=time(row.auto_approval_at),
        AcceptTime=time(row.accepted_at),
        SubmitTime=time(row.submitted_at),
        ApprovalTime=time(row.approved_at),
        RejectionTime=time(row.rejected_at),
        Deadline=time(row.deadline_at),
        Answer=row.answer,
        RequesterFeedback=row.feedback or None,
    )


def bonus(row: Bonus) -> dict[str, Any]:
    """Return a bonus payment."""
    return present(
        WorkerId=row.worker.worker_id,
        BonusAmount=money(row.amount),
        AssignmentId=row.assignment.assignment_id,
        Reason=row.reason,
        GrantTime=time(row.granted_at),
    )


def qualification_type(row: QualificationType, *, for_owner: bool) -> dict[str, Any]:
    """Return a qualification type; test and key are shown to its owner only."""
    return present(
        QualificationTypeId=row.qualification_type_id,
        CreationTime=time(row.created_at),
        Name=row.name,
        Description=row.description,
        Keywords=row.keywords,
        QualificationTypeStatus="Active" if row.is_active else "Inactive",
        Test=row.test if for_owner else None,
        TestDurationInSeconds=row.test_seconds,
        AnswerKey=row.answer_key if for_owner else None,
        RetryDelayInSeconds=row.retry_delay_seconds,
        IsRequestable=row.is_requestable,
        AutoGranted=row.auto_granted,
        AutoGrantedValue=row.auto_granted_value,
    )


def qualification(row: Qualification) -> dict[str, Any]:
    """Return a qualification with its holder. Custom qualifications have no locale."""
    return present(
        QualificationTypeId=row.qualification_type.qualification_type_id,
        WorkerId=row.worker.worker_id,
        GrantTime=time(row.granted_at),
        IntegerValue=row.value,
        Status="Granted" if row.is_granted else "Revoked",
    )


def qualification_request(row: QualificationRequest) -> dict[str, Any]:
    """Return a pending request."""
    return present(
        QualificationRequestId=row.request_id,
        QualificationTypeId=row.qualification_type.qualification_type_id,
        WorkerId=row.worker.worker_id,
        Test=row.test,
        Answer=row.answer,
        SubmitTime=time(row.submitted_at),
    )


def block(row: WorkerBlock) -> dict[str, Any]:
    """Return a block."""
    return present(WorkerId=row.worker.worker_id, Reason=row.reason)
