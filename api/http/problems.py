"""Errors as problem details (RFC 9457): ``application/problem+json`` with a stable ``type``."""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from ninja import Schema

from web.errors import KeyedError

MEDIA_TYPE = "application/problem+json"
PROBLEMS = (400, 401, 403, 404, 405, 409, 411, 412, 413, 415, 416, 422, 428, 429, 500, 503, 507)


class FieldProblem(Schema):
    """One invalid value: the field, and for files the line."""

    field: str
    detail: str
    line: int | None = None


class Problem(Schema):
    """The reason why a request was refused. A refused request has no effect."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] = []


class Refused(Exception):
    """A request that is answered with a problem.

    Attributes
    ----------
    key
        The kind of problem. It's part of ``type`` and stays the same if the sentence changes.
    """

    def __init__(
        self,
        status: int,
        key: str,
        detail: str,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.key, self.detail = status, key, detail
        self.errors, self.headers = list(errors), dict(headers or {})


def problem_response(refused: Refused) -> HttpResponse:
    """Return the response for a refused request."""
    body = {
        "type": f"urn:quorate:problem:{refused.key.replace('_', '-')}",
        "title": HTTPStatus(refused.status).phrase,
        "status": refused.status,
        "detail": refused.detail,
        "errors": refused.errors,
    }
    content = json.dumps(body, ensure_ascii=False)
    return HttpResponse(content, content_type=MEDIA_TYPE, status=refused.status, headers=refused.headers)


def not_found() -> Refused:
    """Return the problem for things that don't exist or that the token's owner has no access to."""
    return Refused(404, "not_found", "Not found, or you don't have access.")


def conflict(error: KeyedError) -> Refused:
    """Return the problem for a request that a service refused because of the current state."""
    return Refused(409, error.key, str(error))


def invalid(errors: Sequence[Mapping[str, Any]]) -> Refused:
    """Return the problem for a request with invalid values."""
    first = errors[0]
    where = f"{first['field']}: " if first["field"] else ""
    return Refused(422, "invalid", f"{where}{first['detail']}", errors)
