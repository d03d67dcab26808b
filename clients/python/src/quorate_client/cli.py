"""The command line: ``quorate RESOURCE ACTION``, which mirrors the client.

It is made from the client's methods: each is an action, its parameters are arguments and options. Errors go to standard
error, and the exit status is 1 if the server refused or a job failed, 2 if the command makes no sense.
"""

import argparse
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from quorate_client._sync.client import Quorate
from quorate_client._sync.resource import Resource
from quorate_client.errors import JobFailed, Problem, QuorateError
from quorate_client.models import Job, Release

_HIDDEN = {"log", "stream", "wait", "to_pandas", "to_datasets", "download_file", "to_dict"}  # for programs
_SHORT = {"import_file": "import", "import_published": "import-published", "send_to_experts": "send-to-experts"}
_ROWS = ("external_id", "slug", "name", "email", "number", "id")  # what names a thing in a line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit status."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if not hasattr(given, "action"):
        parser.print_help()
        return 2
    try:
        client = Quorate(given.url, given.token)
    except ValueError as error:
        print(f"quorate: {error}", file=sys.stderr)
        return 2
    with client:
        try:
            return _run(client, given)
        except (QuorateError, OSError, ValueError) as error:
            _tell(error)
            return 1


def _run(client: Quorate, given: argparse.Namespace) -> int:
    method = getattr(getattr(client, given.resource), given.action)
    names = {name: getattr(given, name) for name in inspect.signature(method).parameters if hasattr(given, name)}
    found = method(**{name: value for name, value in names.items() if value is not None})
    if isinstance(found, Job) and getattr(given, "until_done", False):
        found = client.jobs.wait(found)
    if isinstance(found, Release) and getattr(given, "until_done", False):
        found = client.releases.wait(given.campaign, found.number)
    _print(found, as_json=given.json)
    return 0


def _tell(error: Exception) -> None:
    """Print an error: one line, and one for each field or row that is wrong."""
    print(f"quorate: {error}", file=sys.stderr)
    if isinstance(error, Problem) and len(error.errors) > 1:
        for one in error.errors:
            print(f"  {one['field']}: {one['detail']}", file=sys.stderr)
    if isinstance(error, JobFailed):
        for row in error.job.errors:
            print(f"  {row.where or f'row {row.row}'}, {row.field}: {row.detail}", file=sys.stderr)


def _print(found: Any, *, as_json: bool) -> None:
    """Print a result: lists line by line as they arrive."""
    if found is None:
        return
    rows = found if isinstance(found, Iterator | list) else [found]
    for row in rows:
        if isinstance(row, Path):
            print(row)
            continue
        data = {name: value for name, value in msgspec.to_builtins(row).items() if name != "etag"}
        if as_json:
            print(json.dumps(data, ensure_ascii=False))
        elif isinstance(found, Iterator):
            name = next((name for name in _ROWS if data.get(name) not in (None, "")), next(iter(data)))
            more = [str(data[key]) for key in ("title", "state", "role", "label", "kind") if data.get(key) is not None]
            print("\t".join([str(data[name]), *more]))
        else:
            for name, value in data.items():
                print(
                    f"{name}: {value if isinstance(value, str | int | float | None) else json.dumps(value, ensure_ascii=False)}"
                )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="quorate",
        description="Quorate from the command line. Set QUORATE_URL and QUORATE_TOKEN, or give --url and --token.",
        epilog="Example: quorate items import pairs.jsonl --campaign relevance --dry-run",
    )
    parser.add_argument("--url", help="the address of the installation (default: QUORATE_URL)")
    parser.add_argument("--token", help="an API token (default: QUORATE_TOKEN, which keeps it out of process lists)")
    resources = parser.add_subparsers(metavar="RESOURCE")
    for name, resource in sorted(_resources()):
        told = (inspect.getdoc(resource) or "").splitlines()[0]
        group = resources.add_parser(name.replace("_", "-"), help=told, description=told)
        actions = group.add_subparsers(metavar="ACTION", required=True)
        for method_name, method in inspect.getmembers(type(resource), inspect.isfunction):
            if not method_name.startswith("_") and method_name not in _HIDDEN:
                _action(actions, name, method_name, method)
    return parser


def _resources() -> Iterator[tuple[str, Resource]]:
    """Yield the client's resources; nothing is sent."""
    with Quorate("http://localhost", "-") as client:
        found = {name: one for name, one in vars(client).items() if isinstance(one, Resource)}
    yield from found.items()


def _action(actions: Any, resource: str, name: str, method: Any) -> None:
    told, _, parameters = (inspect.getdoc(method) or "").partition("\n\nParameters\n")
    meanings = dict(re.findall(r"^(\w+)\n    (.+)$", parameters, re.MULTILINE))
    parser = actions.add_parser(
        _SHORT.get(name, name.replace("_", "-")),
        help=told.splitlines()[0],
        description=told,
        formatter_class=_AsWritten,
    )
    parser.set_defaults(resource=resource, action=name)
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")
    hints = typing.get_type_hints(method)
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.name != "idempotency_key":
            _argument(parser, parameter, hints[parameter.name], meanings.get(parameter.name))
    if hints.get("return") in (Job, Release) and "wait" not in hints:
        parser.add_argument("--wait", dest="until_done", action="store_true", help="wait until the job has ended")


class _AsWritten(argparse.RawDescriptionHelpFormatter):
    """Keep the paragraphs of descriptions."""


def _argument(parser: argparse.ArgumentParser, parameter: inspect.Parameter, hint: Any, meaning: str | None) -> None:
    """Add a parameter of a method: positional if the method needs it first, but for the campaign."""
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    kinds = [one for one in (typing.get_args(hint) if is_union else (hint,)) if one is not type(None)]
    is_needed = parameter.default is inspect.Parameter.empty
    is_positional = is_needed and parameter.kind is not inspect.Parameter.KEYWORD_ONLY and parameter.name != "campaign"
    flag = parameter.name if is_positional else f"--{parameter.name.replace('_', '-')}"
    options: dict[str, Any] = {} if is_positional else {"dest": parameter.name, "required": is_needed, "default": None}
    options["help"] = meaning.replace("%", "%%") if meaning else None
    if parameter.name in ("file", "to"):
        parser.add_argument(flag, type=Path, metavar=parameter.name.upper(), **options)
    elif bool in kinds:
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, **options)
    elif typing.get_origin(hint) is typing.Literal:
        parser.add_argument(flag, choices=typing.get_args(hint), **options)
    elif any(_is_list_of_text(one) for one in kinds):
        parser.add_argument(flag, action="append", metavar="TEXT", **options)
    else:
        parser.add_argument(flag, type=_reader(kinds), metavar=parameter.name.upper(), **options)


def _is_list_of_text(kind: Any) -> bool:
    return typing.get_origin(kind) is Sequence and typing.get_args(kind) == (str,)


def _reader(kinds: Sequence[Any]) -> Any:
    """Return the function that reads an argument."""
    for kind in (UUID, datetime, int, float, str):
        if kind in kinds:
            return _moment if kind is datetime else kind
    return _json


def _moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} isn't JSON") from error


def run() -> None:
    """Run the command that the process was started with."""
    sys.exit(main())
