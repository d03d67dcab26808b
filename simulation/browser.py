"""A minimal browser: pages, forms and cookies over real HTTP, without scripts."""

import gzip
import http.client
import ipaddress
import socket
import ssl
import threading
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from functools import cached_property
from http.cookiejar import CookieJar
from typing import Any

import turbohtml

MOST_REDIRECTS = 10
_PORTS = {"http": 80, "https": 443}
_MOVED = (301, 302, 303, 307, 308)
_KEPT = threading.local()  # connections of a thread: people come and go, servers stay


def connections_close() -> None:
    """Close this thread's open connections, because they use resources of the server."""
    for connection in _KEPT.__dict__.pop("connections", {}).values():
        connection.close()


class NotHere(ValueError):
    """An address isn't on this machine; a crowd uses other machines only if it is allowed to."""


@dataclass
class Form:
    """A form: its address, its fields, its choices by name, and whether the page sends it by script."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    is_partial: bool = False


@dataclass
class Page:
    """A page, as read from its source."""

    url: str
    status: int
    text: str

    @cached_property
    def document(self) -> turbohtml.Document:
        """The parsed page; it is parsed on first access."""
        return turbohtml.parse(self.text)

    @cached_property
    def forms(self) -> list[Form]:
        """All forms, in the order of the page."""
        return [self._form(element) for element in self.document.select("form")]

    @cached_property
    def links(self) -> list[str]:
        """The addresses of the links."""
        return [self.at(_said(link, "href")) for link in self.document.select("a[href]")]

    @cached_property
    def frames(self) -> list[str]:
        """The addresses of the frames."""
        return [_said(frame, "src") for frame in self.document.select("iframe")]

    @cached_property
    def stage(self) -> dict[str, str]:
        """The attributes of the page's stage; empty if the page shows none."""
        element = self.document.select_one("[data-stage]")
        return {} if element is None else {name: _said(element, name) for name in element.attrs}

    def form_to(self, part: str) -> Form | None:
        """Return the first form whose address contains a text."""
        return next((form for form in self.forms if part in form.action), None)

    def forms_to(self, part: str) -> list[Form]:
        """Return the forms whose address contains a text."""
        return [form for form in self.forms if part in form.action]

    def words(self, selector: str) -> str:
        """Return the text of the first element that matches, with single spaces; empty if none matches."""
        element = self.document.select_one(selector)
        return "" if element is None else " ".join(element.text.split())

    def at(self, address: str | None) -> str:
        """Return the full URL of an address on the page."""
        return urllib.parse.urljoin(self.url, address or self.url)

    def _form(self, element: turbohtml.Element) -> Form:
        choices: dict[str, list[str]] = {}
        for control in element.select("input[type=radio], input[type=checkbox], button[name]"):
            choices.setdefault(_said(control, "name"), []).append(_said(control, "value"))
        return Form(
            self.at(_said(element, "action")),
            (_said(element, "method") or "get").lower(),
            dict(element.form_data()),
            choices,
            "hx-post" in element.attrs,
        )


def _said(element: turbohtml.Element, name: str) -> str:
    """Return an attribute's text; empty if the attribute is missing."""
    value = element.attrs.get(name)
    return value if isinstance(value, str) else " ".join(value or ())


class Browser:
    """One person's browser: its own cookies, redirects followed, every response read.

    It accesses this machine only, unless ``anywhere``. If a thread has several people, each has a browser, and the
    browsers share the thread's connections.
    """

    def __init__(self, *, timeout: float = 60.0, anywhere: bool = False) -> None:
        self.cookies = CookieJar()
        self.requests = 0
        self._timeout, self._anywhere = timeout, anywhere

    def get(self, url: str) -> Page:
        """Fetch and return a page."""
        return self._open("GET", url)

    def send(self, form: Form, **values: str) -> Page:
        """Fill in a form, send it as the page would, and return the resulting page."""
        data = urllib.parse.urlencode({**form.fields, **values})
        if form.method == "get":
            return self.get(f"{form.action}?{data}")
        return self._open("POST", form.action, data, {"HX-Request": "true"} if form.is_partial else {})

    def post(self, url: str, **values: str) -> int:
        """Send data as a page's script does in the background, and return the status."""
        return self._open("POST", url, urllib.parse.urlencode(values)).status

    def _open(self, method: str, url: str, data: str = "", extra: dict[str, str] | None = None) -> Page:
        for _ in range(MOST_REDIRECTS):
            response, text = self._ask(method, url, data, extra or {})
            further = response.getheader("Location") if response.status in _MOVED else response.getheader("HX-Redirect")
            if not further:
                return Page(url, response.status, text)
            url = urllib.parse.urljoin(url, further)
            if response.status not in (307, 308):
                method, data, extra = "GET", "", {}
        raise RuntimeError(f"more than {MOST_REDIRECTS} redirects, the last one to {url}")

    def _ask(self, method: str, url: str, data: str, extra: dict[str, str]) -> tuple[http.client.HTTPResponse, str]:
        parts = urllib.parse.urlsplit(url)
        request = urllib.request.Request(url)  # noqa: S310  for the cookies only
        self.cookies.add_cookie_header(request)
        headers = {"Accept-Encoding": "gzip", **request.unredirected_hdrs, **extra}
        if method == "POST":
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"{parts.scheme}://{parts.netloc}",
            }
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        response, body = self._exchange(parts, (method, path, data.encode() if method == "POST" else None, headers))
        self.requests += 1
        self.cookies.extract_cookies(response, request)
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        return response, body.decode("utf-8", "replace")

    def _exchange(self, parts: Any, asked: tuple[Any, ...]) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request over the thread's connection; if the server has closed it, retry over a new one."""
        if parts.scheme not in _PORTS:
            raise NotHere(f"only http and https are spoken here, not {parts.scheme}")
        kept: dict[Any, http.client.HTTPConnection] = _KEPT.__dict__.setdefault("connections", {})
        place = (parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme], self._anywhere)
        is_old = place in kept
        if not is_old:
            kept[place] = _Connection(*place[:3], self._timeout, anywhere=self._anywhere)
        connection = kept[place]
        try:
            connection.request(*asked)
            response = connection.getresponse()
            return response, response.read()
        except (ConnectionError, http.client.HTTPException):
            kept.pop(place).close()
            if not is_old:
                raise
            return self._exchange(parts, asked)
        except OSError:
            kept.pop(place).close()
            raise


class _Connection(http.client.HTTPConnection):
    """A connection that resolves every ``*.localhost`` to this machine, as browsers do.

    Over TLS it trusts the certificates that this machine trusts.
    """

    def __init__(self, scheme: str, host: str, port: int, timeout: float, *, anywhere: bool) -> None:
        super().__init__(host, port, timeout=timeout)
        self.default_port = _PORTS[scheme]  # so that the name of the host is sent as browsers send it
        self.anywhere, self._is_secure = anywhere, scheme == "https"

    def connect(self) -> None:
        host = "127.0.0.1" if self.host.endswith("localhost") else self.host
        self.sock = socket.create_connection((host, self.port), self.timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.anywhere and not ipaddress.ip_address(self.sock.getpeername()[0]).is_loopback:
            self.sock.close()
            raise NotHere(f"{self.host} is another machine: a crowd stays on this one unless it is told otherwise")
        if self._is_secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
