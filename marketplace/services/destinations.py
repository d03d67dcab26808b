"""Where notifications may go."""

import re
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from marketplace.protocol.errors import RequestError
from marketplace.protocol.questions import is_loopback

# A name that can be looked up, or an address: labels of at most 63 characters, none of them empty.
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?|[0-9a-f:.]+")


def check_destination(transport: str, destination: str) -> None:
    """Refuse a destination that cannot be sent to.

    SQS takes a queue's URL, SNS an https address that receives the SNS message format (choice: there
    are no topics here), Email an address.

    Raises
    ------
    RequestError
        AWS.MechanicalTurk.InvalidTransportEndpoint.
    """
    if transport == "Email":
        try:
            validate_email(destination)
        except ValidationError:
            raise _wrong(f"{destination!r} is not an email address.") from None
        return
    try:
        parts = urlsplit(destination)
        host = parts.hostname
    except ValueError:
        raise _wrong(f"{destination!r} is not a URL.") from None
    if not host or not _HOST.fullmatch(host) or parts.username or parts.scheme not in ("https", "http"):
        raise _wrong(f"{transport} takes a URL, not {destination!r}.")
    if parts.scheme == "http" and not (is_loopback(host) and settings.MARKETPLACE_IS_LOCAL):
        raise _wrong(f"{destination!r} must be https.")


def is_reachable_from_here(destination: str) -> bool:
    """Say whether a host is one to send to: a public marketplace sends nothing into its own network.

    Called right before sending, as a name can point elsewhere by then.
    """
    if settings.MARKETPLACE_IS_LOCAL:
        return True
    host = urlsplit(destination).hostname or ""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    return bool(found) and all(ip_address(address).is_global for address in found)


def _wrong(message: str) -> RequestError:
    return RequestError("InvalidTransportEndpoint", message)
