"""Notifications to requesters: saved in the same transaction as the event, sent afterwards.

A message holds one event. Messages can arrive twice (with the same ``EventDocId``) and out of order. Requesters can
learn everything in them by polling too.
"""

import json
import uuid
from datetime import datetime
from typing import Any

from django.conf import settings

from database.statements import Statement
from marketplace.models import Assignment, Delivery, Hit, HitType, NotificationSettings, Requester
from marketplace.protocol.errors import RequestError

_EXPIRED_IS_SILENT = {"AssignmentSubmitted", "AssignmentAbandoned", "AssignmentReturned"}


_WANTED = Statement(
    lambda hit_type: NotificationSettings.objects.filter(hit_type_id=hit_type, is_active=True).order_by("pk")[:1], int
)


def event_emit(*, event: str, hit: Hit, at: datetime, assignment: Assignment | None = None) -> None:
    """Queue a notification of an event, if the requester has enabled it for this HIT type."""
    wanted = _WANTED.first(hit.hit_type_id)
    if wanted is None or event not in wanted.event_types:
        return
    if settings.MARKETPLACE_QUIRKS["silent_after_expiry"] and hit.is_expired and event in _EXPIRED_IS_SILENT:
        return
    delivery_queue(
        requester=hit.requester,
        destination=wanted.destination,
        transport=wanted.transport,
        version=wanted.version,
        event={
            "EventType": event,
            "EventTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}",
            "HITTypeId": hit.hit_type.hit_type_id,
            "HITId": hit.hit_id,
            **({"AssignmentId": assignment.assignment_id} if assignment else {}),
        },
        now=at,
    )


def delivery_queue(
    *, requester: Requester, destination: str, transport: str, version: str, event: dict[str, Any], now: datetime
) -> Delivery:
    """Queue one message; the sweep sends it."""
    message_id = str(uuid.uuid4())
    body = {
        "EventDocVersion": version,
        "EventDocId": message_id,
        "CustomerId": requester.customer_id,
        "Events": [event],
    }
    return Delivery.objects.create(
        requester=requester,
        destination=destination,
        transport=transport,
        message_id=message_id,
        body=json.dumps(body),
        due_at=now,
    )


def notification_set(*, hit_type: HitType, given: dict[str, Any] | None, active: bool | None) -> None:
    """Store the destination for a HIT type's notifications; without ``given``, only turn them on or off.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.InvalidParameterValue: there is no destination to turn on or off.
    """
    if given is not None:
        NotificationSettings.objects.update_or_create(
            hit_type=hit_type,
            defaults={
                "destination": given["Destination"],
                "transport": given["Transport"],
                "version": given["Version"],
                "event_types": sorted(set(given["EventTypes"])),
                "is_active": True if active is None else active,
            },
        )
    elif active is not None and not NotificationSettings.objects.filter(hit_type=hit_type).update(is_active=active):
        raise RequestError("InvalidParameterValue", "There is no Notification for this HIT type to switch on or off.")
