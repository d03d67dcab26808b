"""Send queued notifications. Called by the sweep; no transaction is open while something is sent."""

import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import boto3
import urllib3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.mail import send_mail

from marketplace.models import Delivery
from marketplace.services.destinations import is_reachable_from_here
from marketplace.services.faults import fault_take

_LEASE = timedelta(minutes=2)
_RETRIES = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600, 4 * 3600, 12 * 3600)]
_HTTP = urllib3.PoolManager(timeout=urllib3.Timeout(connect=5, read=10), retries=False)
_LOG = logging.getLogger(__name__)
# Destinations that this process is sending to now: a slow one holds up one thread, and only its own messages.
_BUSY: set[str] = set()
_BUSY_LOCK = threading.Lock()


class NotSent(Exception):
    """The other side did not take the message."""


def deliveries_send(*, clock: Callable[[], datetime], most: int = 100) -> int:
    """Send what is due; return how many messages were tried. What fails is tried again, less and less often.

    Parameters
    ----------
    clock
        Tells the time anew for each message: sending takes long.
    """
    tried = 0
    while tried < most:
        with _BUSY_LOCK:
            due = Delivery.objects.filter(due_at__lte=clock()).exclude(destination__in=_BUSY)
            found = due.order_by("due_at", "pk").first()
            if found is None:
                break
            _BUSY.add(found.destination)
        try:
            tried += _claim_and_deliver(found, clock)
        finally:
            with _BUSY_LOCK:
                _BUSY.discard(found.destination)
    return tried


def _claim_and_deliver(delivery: Delivery, clock: Callable[[], datetime]) -> int:
    """Send a message if no other process does. If this one dies meanwhile, the lease brings it back."""
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
    """Return what went wrong, or nothing."""
    fault = fault_take("Notification")
    times = {"lose": 0, "duplicate": 2}.get(fault.kind if fault else "", 1)
    try:
        for _time in range(times):
            _send(delivery)
    except NotSent as error:
        _LOG.warning("notification to %s was not taken: %s", delivery.destination, error)
        return str(error)[:500]
    except Exception as error:  # noqa: BLE001 - whatever an address does, the others get their messages
        _LOG.exception("notification %s failed", delivery.message_id)
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def _send(delivery: Delivery) -> None:
    if delivery.transport == "Email":
        _by_mail(delivery)
    elif not is_reachable_from_here(delivery.destination):
        raise NotSent("the destination is inside the marketplace's own network, or has no address")
    elif delivery.transport == "SQS":
        _to_queue(delivery)
    else:
        _by_http(delivery)


def _by_mail(delivery: Delivery) -> None:
    try:
        send_mail("Notification", delivery.body, None, [delivery.destination])
    except OSError as error:
        raise NotSent(f"mail: {error}") from error


def _to_queue(delivery: Delivery) -> None:
    parts = urlsplit(delivery.destination)
    client = boto3.client(
        "sqs",
        endpoint_url=f"{parts.scheme}://{parts.netloc}",
        region_name=settings.MARKETPLACE_SQS_REGION,
        aws_access_key_id=settings.MARKETPLACE_SQS_KEY or None,
        aws_secret_access_key=settings.MARKETPLACE_SQS_SECRET or None,
        config=Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 1}),
    )
    try:
        client.send_message(QueueUrl=delivery.destination, MessageBody=delivery.body)
    except (BotoCoreError, ClientError) as error:
        raise NotSent(f"SQS: {error}") from error


def _by_http(delivery: Delivery) -> None:
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
    try:
        answer = _HTTP.request(
            "POST",
            delivery.destination,
            body=json.dumps(envelope).encode(),
            headers=headers,
            redirect=False,
            preload_content=False,
        )
        answer.close()  # what it says beyond its status is of no interest, however slowly it says it
    except urllib3.exceptions.HTTPError as error:
        raise NotSent(f"HTTP: {error}") from error
    if not 200 <= answer.status < 300:
        raise NotSent(f"HTTP status {answer.status}")
