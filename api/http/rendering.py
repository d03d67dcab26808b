"""The renderer: JSON by orjson, with only the requested fields."""

from typing import Any

import orjson
from django.http import HttpRequest
from ninja.renderers import BaseRenderer

from api.http.problems import invalid


class FieldsRenderer(BaseRenderer):
    """Write JSON. The query parameter ``fields`` selects the fields of the object, or of each result on a page."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        """Return the bytes of a response."""
        wanted = [name for name in request.GET.get("fields", "").split(",") if name]
        if wanted and request.method == "GET" and response_status == 200 and isinstance(data, dict):
            is_page = isinstance(data.get("results"), list)
            rows = data["results"] if is_page else [data]
            chosen = [_chosen(row, wanted) for row in rows]
            data = {**data, "results": chosen} if is_page else chosen[0]
        return orjson.dumps(data, option=orjson.OPT_UTC_Z)


def _chosen(row: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
    if unknown := [name for name in wanted if name not in row]:
        raise invalid([{"field": "fields", "detail": f"Unknown: {unknown[0]!r}. Known: {', '.join(row)}."}])
    return {name: row[name] for name in wanted}
