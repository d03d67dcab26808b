"""Send queued notifications. Called by the sweep; no transaction is open while something is sent."""

import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.mail import send_mail

from marketplace.models import Delivery
from marketplace.services.destinations import address_to_send_to
from marketplace.services.faults import fault_take
from web.outgoing import NotSent, post

_LEASE = timedelta(minutes=2)
_RETRIES = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)]
_TOTAL_SECONDS = 20
_LOG = logging.getLogger(__name__)
# Requesters that this process is sending for now: a slow address holds up one thread, and its requester's messages.
_BUSY: set[int] = set()
_BUSY_LOCK = threading.Lock()


def deliveries_send(*, clock: Callable[[], datetime], most: int = 100) -> int:
    """Send due messages; return the number of attempts. Failed messages are retried at growing intervals.

    Parameters
    ----------
    clock
        Returns the current time for each message, since sending takes long.
    """
    tried = 0
    while tried < most:
        with _BUSY_LOCK:
            due = Delivery.objects.filter(due_at__lte=clock()).exclude(requester__in=_BUSY)
            found = due.order_by("due_at", "pk").first()
            if found is None:
                break
            _BUSY.add(found.requester_id)
        try:
            tried += _claim_and_deliver(found, clock)
        finally:
            with _BUSY_LOCK:
                _BUSY.discard(found.requester_id)
    return tried


def _claim_and_deliver(delivery: Delivery, clock: Callable[[], datetime]) -> int:
    """Send a message that no other process has claimed. If this process dies, the lease expires and it is retried."""
    claim = Delivery.objects.filter(pk=delivery.pk, due_at=delivery.due_at, attempts=delivery.attempts)
    if not claim.update(due_at=clock() + _LEASE):
        return 0
    error = _try_to_send(delivery)
    now = clock()
    later = _RETRIES[delivery.attempts] if delivery.attempts < len(_RETRIES) else None
    # Only the attempt that was claimed: after a lapsed lease another process has counted on.
    Delivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts).update(
        attempts=delivery.attempts + 1,
        delivered_at=None if error else now,
        due_at=now + later if error and later else None,
        error=error,
    )
    return 1


def _try_to_send(delivery: Delivery) -> str:
    """Return an error text, or an empty text."""
    fault = fault_take("Notification")
    times = {"lose": 0, "duplicate": 2}.get(fault.kind if fault else "", 1)
    try:
        for _time in range(times):
            _send(delivery)
    except NotSent as error:
        _LOG.warning("notification %s was not taken: %s", delivery.message_id, error)
        return str(error)[:500]
    except Exception as error:  # noqa: BLE001 - whatever an address does, the others get their messages
        _LOG.exception("notification %s failed", delivery.message_id)
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def _send(delivery: Delivery) -> None:
    if delivery.transport == "Email":
        _by_mail(delivery)
        return
    address = address_to_send_to(delivery.destination)
    if address is None:
        raise NotSent("the destination is inside the marketplace's own network, or has no address")
    if delivery.transport == "SQS":
        _to_queue(delivery)
    else:
        _by_http(delivery, address)


def _by_mail(delivery: Delivery) -> None:
    try:
        send_mail("Notification", delivery.body, None, [delivery.destination])
    except OSError as error:
        raise NotSent(f"mail: {error}") from error


def _to_queue(delivery: Delivery) -> None:
    """Send to a queue with the installation's own keys for it, never with other credentials that boto3 may find."""
    if not settings.MARKETPLACE_SQS_KEY:
        raise NotSent("there are no keys for SQS")
    parts = urlsplit(delivery.destination)
    client = boto3.client(
        "sqs",
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        region_name=settings.MARKETPLACE_SQS_REGION,
        aws_access_key_id=settings.MARKETPLACE_SQS_KEY,
        aws_secret_access_key=settings.MARKETPLACE_SQS_SECRET,
        config=Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1}),
    )
    try:
        client.send_message(QueueUrl=delivery.destination, MessageBody=delivery.body)
    except (BotoCoreError, ClientError) as error:
        raise NotSent(f"SQS: {error}") from error


def _by_http(delivery: Delivery, address: str) -> None:
    """Post the message in the envelope of SNS; its ``Message`` is the body as a string."""
    envelope = {
        "Type": "Notification",
        "MessageId": delivery.message_id,
        "TopicArn": f"arn:quorate:sns:marketplace:{delivery.requester.customer_id}:notifications",
        "Message": delivery.body,
        "Timestamp": f"{json.loads(delivery.body)['Events'][0]['EventTimestamp'][:-1]}.000Z",
        "SignatureVersion": "none",
    }
    headers = {
        "Content-Type": "text/plain; charset=UTF-8",
        "x-amz-sns-message-type": "Notification",
        "x-amz-sns-message-id": delivery.message_id,
    }
    status = post(delivery.destination, address, json.dumps(envelope).encode(), headers, seconds=_TOTAL_SECONDS).status
    if not 200 <= status < 300:
        raise NotSent(f"HTTP status {status}")
