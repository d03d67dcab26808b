"""Permitted destinations of notifications."""

import re
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from marketplace.protocol.errors import RequestError
from marketplace.protocol.questions import is_loopback
from web.mails import plain_address
from web.outgoing import address_of

_LONGEST = 2000
# A name that can be looked up, or an address: labels of at most 63 characters, none of them empty.
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?|[0-9a-f:.]+")
_AMAZON_QUEUES = re.compile(r"sqs\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?")


def check_destination(transport: str, destination: str) -> None:
    """Reject a destination that messages can't be sent to.

    SQS takes a queue URL (if the installation has keys for it), SNS an https address that receives
    the SNS message format (choice: topics aren't supported), Email an address (if email is enabled).

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.InvalidTransportEndpoint.
    """
    if len(destination) > _LONGEST or not destination.isprintable():
        raise _wrong(f"A destination has at most {_LONGEST} printable characters.")
    if transport == "Email":
        _check_email(destination)
        return
    host = _parts(transport, destination).hostname or ""
    if transport == "SQS":
        if not settings.MARKETPLACE_SQS_KEY:
            raise _wrong("Notifications to SQS are not set up here; use SNS with an https address.")
        if not (_AMAZON_QUEUES.fullmatch(host) or settings.MARKETPLACE_IS_LOCAL):
            raise _wrong(f"{host} is not where Amazon's queues are.")


def address_to_send_to(destination: str) -> str | None:
    """Return the IP address of a destination's host, or None if sending there isn't allowed.

    A public marketplace sends nothing into its own network. Connect to exactly this address: a second
    lookup of the name could return another one.
    """
    return address_of(destination, is_local=settings.MARKETPLACE_IS_LOCAL)


def _check_email(destination: str) -> None:
    if not settings.MARKETPLACE_EMAIL_NOTIFICATIONS:
        raise _wrong("Notifications by mail are not switched on here.")
    try:
        plain_address(destination)
    except ValidationError:
        raise _wrong(f"{destination!r} is not an email address.") from None


def _parts(transport: str, destination: str) -> SplitResult:
    try:
        parts = urlsplit(destination)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise _wrong(f"{destination!r} is not a URL.") from None
    if not host or not _HOST.fullmatch(host) or parts.username or parts.scheme not in ("https", "http"):
        raise _wrong(f"{transport} takes a URL, not {destination!r}.")
    if parts.scheme == "http" and not (is_loopback(host) and settings.MARKETPLACE_IS_LOCAL):
        raise _wrong(f"{destination!r} must be https.")
    return parts


def _wrong(message: str) -> RequestError:
    return RequestError("InvalidTransportEndpoint", message)
