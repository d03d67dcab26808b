"""The MCP server reads and drafts, and has no tool that launches, pays, unseals, reads gold or answers."""

import inspect
import sys

import pytest

from tests import factories
from tests.clients.conftest import SOURCE, run_beside

sys.path.insert(0, str(SOURCE))
import quorate_client
from mcp import Client
from quorate_client import mcp as served

TOOLS = {
    "agreement",
    "campaigns",
    "check_records",
    "draft_campaign",
    "events",
    "guidelines",
    "items",
    "labels",
    "progress",
    "releases",
    "token",
}
NEVER = (
    "launch",
    "pay",
    "act(",
    "unseal",
    "seal(",
    "gold_keys",
    "judge",
    "releases.create",
    "move(",
    "workforces",
    "submit",
)


def called(client, *calls):
    """Return what tools answer, called by a client of the protocol."""

    async def run():
        async with Client(served.server_for(client)) as assistant:
            names = {tool.name for tool in (await assistant.list_tools()).tools}
            return names, [await assistant.call_tool(name, arguments) for name, arguments in calls]

    return run_beside(run())


def test_no_tool_can_do_more_than_read_check_and_draft():
    with quorate_client.Quorate("http://127.0.0.1:1", "quorate_a") as client:
        names, _ = called(client)
    assert names == TOOLS
    source = inspect.getsource(served._add_readers) + inspect.getsource(served._add_writers)
    assert [word for word in NEVER if f"client.{word}" in source or f".{word}" in source] == []


@pytest.mark.slow
@pytest.mark.on_sqlite
def test_an_assistant_drafts_checks_and_reads(platform, secret):
    consent = {"purpose": "a", "recorded": "b", "contact": "c"}
    draft = {"title": "Drafted", "task_type": "antique", "splits": [{"name": "train", "n": 3}], "consent": consent}
    pairs = factories.pairs(2)
    with quorate_client.Quorate(platform.url, secret, progress=False) as client:
        _, (made, good, bad, missing, items) = called(
            client,
            ("draft_campaign", draft),
            ("check_records", {"campaign": "drafted", "records": pairs}),
            ("check_records", {"campaign": "drafted", "records": [{"question": "alone"}]}),
            ("progress", {"campaign": "nothing"}),
            ("items", {"campaign": "drafted"}),
        )
        assert client.campaigns.get("drafted").state == "draft"
    assert not made.is_error
    assert good.structured_content["valid"]
    assert good.structured_content["imported"] == 0
    assert not bad.structured_content["valid"]
    assert bad.structured_content["errors"][0]["row"] == 1
    assert missing.is_error
    assert "Not found" in missing.content[0].text
    assert items.structured_content in ({"result": []}, None)
