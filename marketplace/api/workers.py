"""Operations on workers (blocks, messages) and on notifications."""

from typing import Any

from marketplace.api import render
from marketplace.api.call import Call, Operation, page
from marketplace.api.values import own_hit_type
from marketplace.models import Assignment, Delivery, Worker, WorkerBlock
from marketplace.protocol.errors import RequestError, Throttled
from marketplace.protocol.ids import entity_id
from marketplace.services import workers as service
from marketplace.services.destinations import check_destination
from marketplace.services.notifications import delivery_queue, notification_set

MOST_RECIPIENTS = 100
MOST_QUEUED = 100  # undelivered, before a test event is refused
_VERSIONS = ("2006-05-05", "2014-08-15")
_OF_ASSIGNMENTS = "Assignment"


def create_block(call: Call) -> dict[str, Any]:
    """Block a worker."""
    service.worker_block(
        requester=call.requester,
        worker=service.worker_find(call.given["WorkerId"]),
        reason=call.given["Reason"],
        now=call.now,
    )
    return {}


def delete_block(call: Call) -> dict[str, Any]:
    """Remove a block; a missing block isn't an error."""
    service.worker_unblock(requester=call.requester, worker=service.worker_find(call.given["WorkerId"]))
    return {}


def list_blocks(call: Call) -> dict[str, Any]:
    """Return the requester's blocks."""
    rows = WorkerBlock.objects.filter(requester=call.requester).select_related("worker")
    return page(call, rows, "WorkerBlocks", render.block)


def notify_workers(call: Call) -> dict[str, Any]:
    """Send a message to workers whose work this requester has decided about; the others are listed as failures."""
    ids = list(dict.fromkeys(call.given["WorkerIds"]))
    if not 1 <= len(ids) <= MOST_RECIPIENTS:
        raise RequestError("AWS.ParameterOutOfRange", f"WorkerIds may hold 1 to {MOST_RECIPIENTS}, not {len(ids)}.")
    known = {worker.worker_id: worker for worker in Worker.objects.filter(worker_id__in=ids)}
    decided = set(
        Assignment.objects.filter(
            requester=call.requester, worker__worker_id__in=ids, state__in=["Approved", "Rejected"]
        ).values_list("worker__worker_id", flat=True)
    )
    service.workers_notify(
        requester=call.requester,
        subject=call.given["Subject"],
        text=call.given["MessageText"],
        workers=[known[worker_id] for worker_id in ids if worker_id in decided],
        now=call.now,
    )
    failures = [
        {
            "NotifyWorkersFailureCode": "HardFailure",
            "NotifyWorkersFailureMessage": "You have not decided about any work of this worker, so they cannot be notified."
            if worker_id in known
            else "There is no worker with this id.",
            "WorkerId": worker_id,
        }
        for worker_id in ids
        if worker_id not in decided
    ]
    return {"NotifyWorkersFailureStatuses": failures}


def update_notification_settings(call: Call) -> dict[str, Any]:
    """Set the destination for a HIT type's events, or turn notifications on or off."""
    given, active = call.get("Notification"), call.get("Active")
    if given is None and active is None:
        raise RequestError("AWS.MissingParameters", "Give a Notification, Active, or both.")
    if given is not None:
        _check(given)
    kind = own_hit_type(call.requester, call.given["HITTypeId"])
    notification_set(hit_type=kind, given=given, active=active)
    return {}


def send_test_event(call: Call) -> dict[str, Any]:
    """Send one event of the given type, with made-up ids."""
    given, event = call.given["Notification"], call.given["TestEventType"]
    _check(given)
    if Delivery.objects.filter(requester=call.requester, due_at__isnull=False).count() >= MOST_QUEUED:
        raise Throttled
    body = {"EventType": event, "EventTimestamp": f"{call.now:%Y-%m-%dT%H:%M:%SZ}"}
    body |= {"HITTypeId": entity_id(), "HITId": entity_id()}
    if event.startswith(_OF_ASSIGNMENTS):
        body["AssignmentId"] = entity_id()
    delivery_queue(
        requester=call.requester,
        destination=given["Destination"],
        transport=given["Transport"],
        version=given["Version"],
        event=body,
        now=call.now,
    )
    return {}


def _check(given: dict[str, Any]) -> None:
    if given["Version"] not in _VERSIONS:
        raise RequestError("InvalidParameterValue", f"Notification.Version must be one of {', '.join(_VERSIONS)}.")
    if not given["EventTypes"]:
        raise RequestError("InvalidParameterValue", "Notification.EventTypes must name at least one event.")
    check_destination(given["Transport"], given["Destination"])


OPERATIONS: dict[str, Operation] = {
    "CreateWorkerBlock": create_block,
    "DeleteWorkerBlock": delete_block,
    "ListWorkerBlocks": list_blocks,
    "NotifyWorkers": notify_workers,
    "SendTestEventNotification": send_test_event,
    "UpdateNotificationSettings": update_notification_settings,
}
