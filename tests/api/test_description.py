"""The description of the interface: version 1 keeps its shape, and its page shows every operation."""

import json
from pathlib import Path

import pytest
from django.test import Client

from api.pages import schema_of
from tests.api.test_matrix import operations

FILE = Path(__file__).parent / "api_v1_first.json"


@pytest.mark.django_db
def test_the_page_and_the_file_have_every_operation():
    page = Client().get("/api/v1/").content.decode()
    sent = Client().get("/api/v1/openapi.json")
    assert sent.json()["openapi"].startswith("3.1")
    assert len(list(operations())) > 60
    for name, method, path in operations():
        assert f'id="{name}"' in page
        assert f"{method} {path}" in page


def test_programs_that_read_pages_find_the_api():
    sent = Client().get("/llms.txt")
    assert sent["Content-Type"].startswith("text/plain")
    assert "/api/v1/openapi.json" in sent.content.decode()


def breaking(before, after, where=""):
    """Yield what a newer description takes away from those who rely on an older one."""
    for path, methods in before["paths"].items():
        for method, old in methods.items():
            name = f"{method.upper()} {path}"
            new = after["paths"].get(path, {}).get(method)
            if new is None:
                yield f"{name} is gone"
                continue
            if set(old["responses"]) - set(new["responses"]):
                yield f"{name} has fewer answers"
            had = {one["name"] for one in old.get("parameters", ())}
            has = {one["name"]: one for one in new.get("parameters", ())}
            yield from (f"{name}: the parameter {one} is gone" for one in had - set(has))
            yield from (f"{name}: {one} is needed now" for one in set(has) - had if has[one].get("required"))
            if old["x-token-scope"] != new["x-token-scope"]:
                yield f"{name} needs another scope"
    for name, old in before["components"]["schemas"].items():
        new = after["components"]["schemas"].get(name, {"properties": {}})
        is_sent = name.endswith(("Sent", "Change"))
        for field, shape in old.get("properties", {}).items():
            if field not in new.get("properties", {}):
                yield f"{name}.{field} is gone"
            elif _type(new["properties"][field]) != _type(shape):
                yield f"{name}.{field} has another type"
        needed = set(new.get("required", ())) - set(old.get("required", ()))
        yield from (f"{name}.{field} is needed now" for field in needed if is_sent)


def _type(shape):
    return {name: value for name, value in shape.items() if name in ("type", "$ref", "anyOf", "items", "format")}


def test_nothing_that_version_1_promised_is_gone():
    """`api_v1_first.json` is the description of the first release with an API; it never changes after that release."""
    first = json.loads(FILE.read_text())
    assert not list(breaking(first, schema_of()))


def test_a_breaking_change_is_seen():
    now = json.loads(json.dumps(schema_of()))
    del now["paths"]["/api/v1/campaigns"]["get"]
    del now["components"]["schemas"]["ItemReply"]["properties"]["split"]
    now["components"]["schemas"]["CampaignSent"]["required"].append("slug")
    now["components"]["schemas"]["JobReply"]["properties"]["done"]["type"] = "string"
    assert sorted(breaking(schema_of(), now)) == [
        "CampaignSent.slug is needed now",
        "GET /api/v1/campaigns is gone",
        "ItemReply.split is gone",
        "JobReply.done has another type",
    ]
