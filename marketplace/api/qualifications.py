"""Operations on qualification types, grants and requests."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from marketplace.api import render
from marketplace.api.call import Call, Operation, page
from marketplace.api.values import no_such_type, own_qualification_type
from marketplace.models import Qualification, QualificationRequest, QualificationType
from marketplace.protocol.errors import RequestError
from marketplace.selectors import search_words
from marketplace.services import qualifications as service
from marketplace.services.workers import worker_find

_MEMBERS = {
    "Description": "description",
    "Keywords": "keywords",
    "Test": "test",
    "AnswerKey": "answer_key",
    "TestDurationInSeconds": "test_seconds",
    "RetryDelayInSeconds": "retry_delay_seconds",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
}


def create_type(call: Call) -> dict[str, Any]:
    """Create a qualification type."""
    values = {"name": call.given["Name"], **_values(call)}
    if values.get("auto_granted"):
        values.setdefault("auto_granted_value", 1)
    kind = service.qualification_type_create(requester=call.requester, values=values, now=call.now)
    return {"QualificationType": render.qualification_type(kind, for_owner=True)}


def update_type(call: Call) -> dict[str, Any]:
    """Change a qualification type; omitted values don't change."""
    kind = service.qualification_type_update(kind=_own(call), values=_values(call))
    return {"QualificationType": render.qualification_type(kind, for_owner=True)}


def get_type(call: Call) -> dict[str, Any]:
    """Return a type of the requester, or another requester's type that workers can request."""
    type_id = call.given["QualificationTypeId"]
    kind = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at=None).first()
    mine = kind is not None and kind.requester_id == call.requester.pk
    if kind is None or not (mine or (kind.is_requestable and kind.is_active)):
        raise no_such_type(type_id)
    return {"QualificationType": render.qualification_type(kind, for_owner=mine)}


def list_types(call: Call) -> dict[str, Any]:
    """Return types by a search over name, description and keywords."""
    rows = QualificationType.objects.filter(deleted_at=None)
    mine = Q(requester=call.requester)
    rows = rows.filter(mine if call.get("MustBeOwnedByCaller") else mine | Q(is_requestable=True, is_active=True))
    if call.given["MustBeRequestable"]:
        rows = rows.filter(is_requestable=True)
    for word in search_words(call.get("Query", "")):
        rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word))
    if lag := settings.MARKETPLACE_QUIRKS["index_lag_seconds"]:
        rows = rows.filter(created_at__lte=call.now - timedelta(seconds=lag))

    def shown(row: QualificationType) -> dict[str, Any]:
        return render.qualification_type(row, for_owner=row.requester_id == call.requester.pk)

    return page(call, rows, "QualificationTypes", shown)


def delete_type(call: Call) -> dict[str, Any]:
    """Delete a type."""
    service.qualification_type_delete(kind=_own(call), now=call.now)
    return {}


def associate(call: Call) -> dict[str, Any]:
    """Grant a qualification, or change its value."""
    kind = _own(call)
    if not kind.is_active:
        raise RequestError(
            "InvalidQualificationTypeState", "This operation can be called with a status of: Active (QualificationType)"
        )
    service.qualification_grant(
        kind=kind,
        worker=worker_find(call.given["WorkerId"]),
        value=call.get("IntegerValue", 1),
        notify=call.get("SendNotification", True),
        now=call.now,
    )
    return {}


def disassociate(call: Call) -> dict[str, Any]:
    """Revoke a qualification."""
    service.qualification_revoke(
        kind=_own(call), worker=worker_find(call.given["WorkerId"]), reason=call.get("Reason", ""), now=call.now
    )
    return {}


def get_score(call: Call) -> dict[str, Any]:
    """Return a worker's qualification of a type."""
    kind, worker = _own(call), worker_find(call.given["WorkerId"])
    held = kind.qualifications.filter(worker=worker).select_related("worker", "qualification_type").first()
    if held is None:
        raise service.no_such_qualification(worker, kind)
    if not held.is_granted:
        raise RequestError("InvalidQualificationState", "This operation can be called with a status of: Granted")
    return {"Qualification": render.qualification(held)}


def list_workers(call: Call) -> dict[str, Any]:
    """Return the current and former holders of a type."""
    granted = call.get("Status", "Granted") == "Granted"
    rows = Qualification.objects.filter(qualification_type=_own(call), is_granted=granted)
    return page(call, rows.select_related("worker", "qualification_type"), "Qualifications", render.qualification)


def list_requests(call: Call) -> dict[str, Any]:
    """Return the requests that await the requester's decision."""
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=call.requester, state=QualificationRequest.State.PENDING
    ).select_related("qualification_type", "worker")
    if call.get("QualificationTypeId") is not None:
        rows = rows.filter(qualification_type=_own(call))
    return page(call, rows, "QualificationRequests", render.qualification_request)


def accept_request(call: Call) -> dict[str, Any]:
    """Grant a requested qualification."""
    service.request_decide(
        requester=call.requester,
        request_id=call.given["QualificationRequestId"],
        grant=True,
        value=call.get("IntegerValue", 1),
        reason="",
        now=call.now,
    )
    return {}


def reject_request(call: Call) -> dict[str, Any]:
    """Reject a request for a qualification."""
    service.request_decide(
        requester=call.requester,
        request_id=call.given["QualificationRequestId"],
        grant=False,
        value=None,
        reason=call.get("Reason", ""),
        now=call.now,
    )
    return {}


def _own(call: Call) -> QualificationType:
    return own_qualification_type(call.requester, call.given["QualificationTypeId"])


def _values(call: Call) -> dict[str, Any]:
    values = {field: call.given[member] for member, field in _MEMBERS.items() if call.get(member) is not None}
    if call.get("QualificationTypeStatus") is not None:
        values["is_active"] = call.given["QualificationTypeStatus"] == "Active"
    return values


OPERATIONS: dict[str, Operation] = {
    "AcceptQualificationRequest": accept_request,
    "AssociateQualificationWithWorker": associate,
    "CreateQualificationType": create_type,
    "DeleteQualificationType": delete_type,
    "DisassociateQualificationFromWorker": disassociate,
    "GetQualificationScore": get_score,
    "GetQualificationType": get_type,
    "ListQualificationRequests": list_requests,
    "ListQualificationTypes": list_types,
    "ListWorkersWithQualificationType": list_workers,
    "RejectQualificationRequest": reject_request,
    "UpdateQualificationType": update_type,
}
