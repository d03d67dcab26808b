"""A stand-in for another site: an HTTP server in this process that checks each request, and can lose its answers."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: Any
    body: bytes
    found: tuple[str, ...] = ()

    def json(self) -> Any:
        try:
            return json.loads(self.body or b"null")
        except ValueError as error:
            raise Answer(400, {"message": "not JSON"}) from error


class Answer(Exception):
    """An answer; raised, it ends a route early."""

    def __init__(self, status: int = 200, body: Any = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, body)
        self.status, self.body, self.headers = status, body, headers or {}


Route = Callable[[Any, Request], Any]


def route(method: str, pattern: str) -> Callable[[Route], Route]:
    """Mark a method of a stand-in as the answer to requests whose whole path matches."""

    def mark(function: Route) -> Route:
        function.route = (method, re.compile(pattern))  # type: ignore[attr-defined]
        return function

    return mark


@dataclass
class Faults:
    """What goes wrong next: requests whose answer is lost after they had their effect, and ones that are put off."""

    lost: list[tuple[str, str]] = field(default_factory=list)
    busy: list[tuple[str, str, int]] = field(default_factory=list)

    def lose(self, method: str, pattern: str, times: int = 1) -> None:
        self.lost += [(method, pattern)] * times

    def put_off(self, method: str, pattern: str, status: int = 429) -> None:
        self.busy.append((method, pattern, status))


class StandIn:
    """Subclass it and mark routes. All requests are answered one after another, as `requests` lists them."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults = Faults()
        self._lock = threading.Lock()
        self._routes = [
            (*one.route, one) for name in dir(type(self)) if hasattr(one := getattr(type(self), name), "route")
        ]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def count(self, method: str, pattern: str) -> int:
        """Return how many requests came."""
        return sum(one.method == method and bool(re.search(pattern, one.path)) for one in self.requests)

    def guard(self, request: Request) -> None:
        """Refuse a request before it reaches its route."""

    def answer(self, request: Request) -> Answer | None:
        """Return the answer, or None if it is lost."""
        with self._lock:
            self.requests.append(request)
            for one in self.faults.busy:
                if one[0] == request.method and re.search(one[1], request.path):
                    self.faults.busy.remove(one)
                    return Answer(one[2], {"message": "later"}, {"Retry-After": "1"})
            try:
                found = self._found(request)
            except Answer as answer:
                found = answer
            for lost in self.faults.lost:
                if lost[0] == request.method and re.search(lost[1], request.path):
                    self.faults.lost.remove(lost)
                    return None
            return found

    def _found(self, request: Request) -> Answer:
        self.guard(request)
        for method, pattern, function in self._routes:
            if method == request.method and (match := pattern.fullmatch(request.path)):
                request.found = match.groups()
                body = function(self, request)
                return body if isinstance(body, Answer) else Answer(200, body)
        raise Answer(404, {"message": f"no route for {request.method} {request.path}"})


def _handler(site: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _do(self) -> None:
            parts = urlsplit(self.path)
            body = self._chunks() if self.headers.get("Transfer-Encoding") == "chunked" else self._whole()
            query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            found = site.answer(Request(self.command, unquote(parts.path), query, self.headers, body))
            if found is None:
                self.close_connection = True
                self.connection.close()
                return
            content = found.body if isinstance(found.body, bytes) else json.dumps(found.body).encode()
            content = b"" if found.body is None else content
            self.send_response(found.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **found.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _whole(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _chunks(self) -> bytes:
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _do  # noqa: N815  the names of http.server

        def log_message(self, *_arguments: object) -> None:
            pass

    return Handler
