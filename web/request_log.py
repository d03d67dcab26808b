"""An id for each request, in its response, its log lines, and the jobs and errands that it causes."""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from web import metrics

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_NOT_LOGGED = ("/healthz", "/readyz", "/metrics")
_current: ContextVar[str] = ContextVar("request_id", default="")
_logger = logging.getLogger("quorate.requests")


def current_request_id() -> str:
    """Return the id of the request that is being answered, or that caused the job or errand at hand; else ""."""
    return _current.get()


@contextmanager
def logged_as(request_id: str) -> Iterator[None]:
    """Give log lines, jobs and errands inside the block a request's id."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)


class RequestIdFilter(logging.Filter):
    """Add the request's id to each log record, as ``request_id``."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the id, and return True to keep the record."""
        record.request_id = _current.get() or "-"
        return True


class RequestLogMiddleware:
    """Give each request an id, write one log line for it if required, and measure its time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        metrics.count_errors()
        request_finished.connect(_forget_id, dispatch_uid="web.request_log")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request; the response's header ``X-Request-ID`` has the id."""
        start = time.perf_counter()
        _current.set(_id_of(request))  # until the response is sent: Django logs failures after this returns
        response = self.get_response(request)
        seconds = time.perf_counter() - start
        response["X-Request-ID"] = current_request_id()
        group = group_of(request)
        metrics.REQUEST_SECONDS.observe(seconds, group)
        metrics.RESPONSES.add(group, f"{response.status_code // 100}xx")
        if settings.LOG_REQUESTS and request.path not in _NOT_LOGGED:
            # The path without its query: what people search for belongs in no log.
            line = ("%s %s %s %d ms", request.method, request.path, response.status_code, round(seconds * 1000))
            _logger.info(*line, extra={"group": group, "status": response.status_code, "seconds": round(seconds, 4)})
        return response


def _forget_id(**_options: Any) -> None:
    _current.set("")


def group_of(request: HttpRequest) -> str:
    """Return the group of a request's route: the folder of its view, or the name of its operation.

    The number of groups is limited by the code: it doesn't grow with people, items or campaigns.
    """
    if operation := getattr(request, "operation", ""):
        return str(operation)
    match = request.resolver_match
    return ".".join(match.func.__module__.split(".")[:2]) if match else "none"


def _id_of(request: HttpRequest) -> str:
    """Return the id that a trusted proxy sent, or a new one."""
    sent = request.headers.get("X-Request-ID", "")
    is_trusted = getattr(settings, "ALLAUTH_TRUSTED_PROXY_COUNT", 0) and _ID.fullmatch(sent)
    return sent if is_trusted else uuid4().hex
