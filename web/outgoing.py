"""Sending to addresses that others chose: never into our own network, and never for longer than some seconds."""

import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

READ_SECONDS = 10
TOTAL_SECONDS = 20
# IPv6 addresses that stand for IPv4 ones, inside or outside, and their gateways; and old addresses of a site.
_TRANSLATED = [
    ip_network(text)
    for text in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fec0::/10", "192.88.99.0/24")
]


class NotSent(Exception):
    """The receiver did not accept the message."""


class Answer(NamedTuple):
    """What a receiver answered: the status, and how many seconds it asks to wait."""

    status: int
    retry_after: str


def address_of(url: str, *, is_local: bool) -> str | None:
    """Return the IP address of a URL's host, or None if nothing may be sent there.

    A public installation sends nothing into its own network (``is_local`` allows it). Connect to exactly this
    address: a second lookup of the name could return another one.
    """
    host = urlsplit(url).hostname or ""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return None
    if is_local:
        return found[0]
    return next((address for address in found if _is_public(ip_address(address))), None)


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    return address.is_global and not address.is_multicast and not any(address in network for network in _TRANSLATED)


def post(url: str, address: str, body: bytes, headers: Mapping[str, str], *, seconds: float = TOTAL_SECONDS) -> Answer:
    """Post to a host at an address that was resolved and checked before. Redirects aren't followed.

    A timeout limits each read only; the watchdog limits the total time.

    Raises
    ------
    NotSent
        The host can't be reached, or doesn't answer in time.
    """
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=READ_SECONDS)

    def connect(to: tuple[str, int], timeout: float, source: None) -> socket.socket:
        return socket.create_connection((address, to[1]), timeout, source)

    connection._create_connection = connect  # type: ignore[attr-defined]  # noqa: SLF001 - the way to keep name and address apart
    late = threading.Event()
    watchdog = threading.Timer(seconds, _cut, (connection, late))
    watchdog.start()
    try:
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request("POST", target, body, dict(headers))
        response = connection.getresponse()
        answer = Answer(response.status, response.headers.get("Retry-After", ""))
    except (OSError, HTTPException) as error:
        raise NotSent(f"HTTP: {type(error).__name__}: {error}") from error
    finally:
        watchdog.cancel()
        connection.close()
    if late.is_set():  # what was read of the answer may look whole
        raise NotSent(f"HTTP: no answer within {seconds:g} seconds")
    return answer


def _cut(connection: HTTPConnection, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
