"""``quorate-mcp``: an MCP server over the client, for assistants that read a campaign's state and prepare one.

Its tools read progress, agreement, labels and releases, and they check and draft. None launches, pays, releases, seals
or unseals, reads gold questions, or answers. Give it a token with the scopes ``read`` and ``import``, or less.
"""

from collections.abc import Callable
from functools import wraps
from itertools import islice
from typing import Any

import msgspec
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from quorate_client._sync.client import Quorate
from quorate_client.errors import JobFailed, QuorateError

Register = Callable[[Callable[..., Any]], Callable[..., Any]]
MOST = 50  # results of one call: more would crowd out a conversation
INSTRUCTIONS = """\
Quorate collects annotations by people and turns them into benchmarks. You can read the state of campaigns, check
records before an import, and draft campaigns. People launch, pay, release and judge. Never present a draft as launched.
"""


def server_for(client: Quorate) -> MCPServer:
    """Return a server whose tools use a client."""
    server = MCPServer("quorate", title="Quorate", instructions=INSTRUCTIONS)

    def tool(function: Callable[..., Any]) -> Callable[..., Any]:
        """Register a tool that says why the platform refused something."""

        @wraps(function)
        def told(*args: Any, **arguments: Any) -> Any:
            try:
                return function(*args, **arguments)
            except QuorateError as error:
                raise ToolError(str(error)) from error

        return server.tool()(told)

    _add_readers(tool, client)
    _add_writers(tool, client)
    return server


def _plain(row: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(row)
    return {name: value for name, value in found.items() if name != "etag"}


def _few(rows: Any, most: int) -> list[dict[str, Any]]:
    return [_plain(row) for row in islice(rows, max(1, min(most, MOST)))]


def _add_readers(tool: Register, client: Quorate) -> None:
    @tool
    def token() -> dict[str, Any]:
        """Return the token's scopes and its only campaign, if it has one."""
        return _plain(client.token.get())

    @tool
    def campaigns(most: int = MOST) -> list[dict[str, Any]]:
        """List campaigns with their state and splits."""
        return _few(client.campaigns.list(), most)

    @tool
    def progress(campaign: str) -> dict[str, Any]:
        """Return how far a campaign is: slots, splits, paths and days."""
        return _plain(client.quality.progress(campaign))

    @tool
    def agreement(campaign: str) -> dict[str, Any]:
        """Return the agreement of annotators and experts, and the results of label audits. Needs a manager's token."""
        data = client.quality.numbers(campaign).data
        return {name: data[name] for name in ("agreement", "rounds", "experts", "audits") if name in data}

    @tool
    def items(campaign: str, split: str = "", state: str = "", most: int = 20) -> list[dict[str, Any]]:
        """List items; state is active, unfinished, retired or reported."""
        gold = {batch.ordinal for batch in client.batches.list(campaign) if batch.purpose == "gold"}
        rows = client.items.list(campaign, split=split or None, state=state or None)
        return _few((row for row in rows if row.batch not in gold), most)

    @tool
    def labels(campaign: str, split: str = "", most: int = 20) -> list[dict[str, Any]]:
        """List labels with their rule and votes. Labels of sealed splits are never listed."""
        return _few(client.labels.list(campaign, split=split or None), most)

    @tool
    def guidelines(campaign: str) -> dict[str, Any]:
        """Return the guidelines that annotators read. To propose a change, show your text to a person."""
        return _plain(client.guidelines.get(campaign))

    @tool
    def releases(campaign: str) -> list[dict[str, Any]]:
        """List releases, newest first."""
        return _few(client.releases.list(campaign), MOST)

    @tool
    def events(campaign: str, after: int = 0) -> dict[str, Any]:
        """Return what happened after a number of the feed. Needs a manager's token."""
        found = client.events.after(campaign, after=after)
        return {"results": [_plain(row) for row in found.results[:MOST]], "last": found.last}


def _add_writers(tool: Register, client: Quorate) -> None:
    @tool
    def check_records(campaign: str, records: list[dict[str, Any]]) -> dict[str, Any]:
        """Check records for an import, and import nothing. Says which rows and fields are wrong."""
        try:
            job = client.items.log(campaign, records, dry_run=True)
        except JobFailed as failed:
            return {"valid": False, "error": str(failed), "errors": [_plain(row) for row in failed.job.errors[:MOST]]}
        return {"valid": True, **job.result}

    @tool
    def draft_campaign(
        title: str, task_type: str, splits: list[dict[str, Any]], consent: dict[str, Any], guidelines: str = ""
    ) -> dict[str, Any]:
        """Create a campaign as a draft, which a person launches. Needs an administrator's token with scope manage.

        Each split has a name and n, the number of annotations per item. The consent has purpose, recorded and contact.
        """
        made = client.campaigns.create(
            title=title, task_type=task_type, splits=splits, consent=consent, guidelines=guidelines
        )
        return _plain(made)


def run() -> None:
    """Serve on standard input and output, for the installation in QUORATE_URL and the token in QUORATE_TOKEN."""
    with Quorate(progress=False) as client:
        server_for(client).run()


if __name__ == "__main__":
    run()
