"""Version 1 of the interface: all operations, and their description in OpenAPI 3.1."""

from functools import cache
from http.client import responses
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.security import HttpBearer

from api.http.operations import guarded, told
from api.http.problems import MEDIA_TYPE, PROBLEMS, Refused, conflict, invalid, problem_response
from api.http.rendering import FieldsRenderer
from api.resources import RESOURCES
from web.errors import KeyedError

DESCRIPTION = """\
Everything that managers, experts and researchers do on Quorate's pages. Annotators answer on pages only.

- **Tokens**: send `Authorization: Bearer …`. Create tokens under Account → API tokens.
- **Lists** have pages of at most 1,000 results; follow `next` until it is null. `fields` selects fields.
- **Repeating a request**: send an `Idempotency-Key` with every request that changes something. For 48 hours, the same
  request with the same key has no second effect and gets the first answer.
- **Lost updates**: settings, guidelines and policies have an `ETag`. Send it as `If-Match` with your change.
- **Errors** are `application/problem+json` (RFC 9457) with a stable `type`. A refused request has no effect.
- **Limits**: see the headers `RateLimit` and `Retry-After`.
- Times are RFC 3339 in UTC. Money is integer cents with a currency.
"""


class Bearer(HttpBearer):
    """The scheme of the description; `api.http.operations.guarded` checks the token."""

    def authenticate(self, request: HttpRequest, token: str) -> bool:
        """Return True: requests without a valid token don't come this far."""
        return True


class QuorateAPI(NinjaAPI):
    """The interface, with a description that states the media type of problems and the headers of writes."""

    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """Return the description."""
        schema = super().get_openapi_schema(**options)
        schema.pop("servers", None)
        content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        schema["components"]["responses"] = {
            f"Problem{status}": {"description": responses[status], "content": content} for status in PROBLEMS
        }
        for methods in schema["paths"].values():
            for method, operation in methods.items():
                operation["responses"] |= {
                    status: {"$ref": f"#/components/responses/Problem{status}"} for status in PROBLEMS
                }
                if method != "get":
                    operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
        return schema


_IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]*$"},
    "description": "A key that you choose. The same request with the same key has one effect.",
}


@cache
def api_make() -> QuorateAPI:
    """Return the interface with all operations."""
    api = QuorateAPI(
        title="Quorate",
        version="1",
        description=DESCRIPTION,
        auth=Bearer(),
        docs_url=None,
        openapi_url=None,
        renderer=FieldsRenderer(),
        urls_namespace="api-v1",
    )
    api.add_decorator(guarded, mode="view")
    for tag, router in RESOURCES.items():
        api.add_router("", router, tags=[tag])
    _handlers(api)
    return api


def _handlers(api: NinjaAPI) -> None:
    """Have expected exceptions answered as problems. Others roll everything back (`api.http.operations`)."""

    def refuse(_request: HttpRequest, error: Any) -> HttpResponse:
        if isinstance(error, ValidationError):
            error = invalid([_field_problem(one) for one in error.errors])
        elif isinstance(error, KeyedError):
            error = conflict(error)
        elif isinstance(error, HttpError):
            error = Refused(error.status_code, "body_unreadable", str(error))
        return problem_response(error if isinstance(error, Refused) else told(error) or Refused(400, "bad", str(error)))

    for kind in (Refused, ValidationError, KeyedError, HttpError, Http404, PermissionDenied):
        api.add_exception_handler(kind, refuse)

    def fail(_request: HttpRequest, error: Any) -> HttpResponse:
        raise error

    api.add_exception_handler(Exception, fail)


def _field_problem(error: dict[str, Any]) -> dict[str, Any]:
    """Return an invalid value as the client named it: ``splits.0.n``, without the name of our parameter."""
    source, *where = [str(part) for part in error["loc"]]
    inside = where[1:] if source == "body" else where
    return {"field": ".".join(inside), "detail": error["msg"]}
