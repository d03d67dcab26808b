"""The description of the interface: as a file for programs, and as a page for people."""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from annotation.markdown import markdown_html
from api.http.presigned import presigned_store
from api.http.problems import Refused, problem_response
from api.v1 import DESCRIPTION, api_make


@cache
def schema_of() -> dict[str, Any]:
    """Return the description in OpenAPI 3.1, which only another version of the code changes."""
    found: dict[str, Any] = json.loads(json.dumps(api_make().get_openapi_schema(path_prefix="/api/v1/")))
    return found


@require_GET
@cache_control(public=True, max_age=300)
def description(request: HttpRequest) -> HttpResponse:
    """Send the description in OpenAPI 3.1."""
    return JsonResponse(schema_of())


@require_GET
def reference(request: HttpRequest) -> HttpResponse:
    """Show all operations, by resource."""
    introduction = mark_safe(markdown_html(DESCRIPTION))  # noqa: S308  sanitized
    return render(request, "api/reference.html", {"groups": _groups(), "introduction": introduction})


@cache
def _groups() -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the operations by resource, as the page shows them."""
    schema, groups = schema_of(), dict[str, list[dict[str, Any]]]()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append(_shown(path, method, operation, schema))
    return list(groups.items())


@require_GET
@cache_control(public=True, max_age=300)
def llms(request: HttpRequest) -> HttpResponse:
    """Tell programs that read pages (https://llmstxt.org) that there is an API, and what it doesn't do."""
    return render(request, "api/llms.txt", {"base": settings.PLATFORM_URL}, content_type="text/plain; charset=utf-8")


def _shown(path: str, method: str, operation: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    return {
        "path": path,
        "method": method.upper(),
        "name": operation["operationId"],
        "summary": operation["summary"],
        "description": mark_safe(markdown_html(operation["description"])),  # noqa: S308  sanitized
        "scope": operation["x-token-scope"],
        "parameters": [one for one in operation.get("parameters", ()) if one["in"] != "header"],
        "kinds": [kind for kind in body if kind != "application/json"],
        "fields": _fields(body.get("application/json", {}).get("schema", {}), schema),
        "status": min(operation["responses"]),
        "returns": _fields(_returned(operation), schema),
    }


def _returned(operation: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = operation["responses"][min(operation["responses"])].get("content", {})
    found: dict[str, Any] = content.get("application/json", {}).get("schema", {})
    return found


def _fields(found: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a schema: name, type, whether it is required, and what it means."""
    found = _resolved(found, schema)
    results = found.get("properties", {}).get("results")
    if results:
        found = _resolved(results.get("items", {}), schema)
    required = found.get("required", [])
    return [
        {"name": name, "type": _type(one), "required": name in required, "description": one.get("description", "")}
        for name, one in found.get("properties", {}).items()
    ]


def _resolved(found: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = found.get("$ref", "").rpartition("/")[2]
    resolved: dict[str, Any] = schema["components"]["schemas"][name] if name else found
    return resolved


def _type(one: dict[str, Any]) -> str:
    if "anyOf" in one:
        return " | ".join(_type(part) for part in one["anyOf"])
    if "$ref" in one:
        return str(one["$ref"]).rpartition("/")[2]
    if one.get("type") == "array":
        return f"{_type(one.get('items', {}))}[]"
    return str(one.get("format") or one.get("type") or "any")


@csrf_exempt
def no_operation(request: HttpRequest) -> HttpResponse:
    """Answer addresses without an operation."""
    return problem_response(Refused(404, "not_found", "There is no operation at this address."))


@csrf_exempt
@require_http_methods(["PUT"])
def upload(request: HttpRequest, text: str) -> HttpResponse:
    """Store a file that is sent to a presigned address, which is the permission."""
    try:
        presigned_store(request, text)
    except Refused as refused:
        return problem_response(refused)
    return HttpResponse(status=201)
