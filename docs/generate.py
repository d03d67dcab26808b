"""Write the reference pages that are generated from the code: ``make reference``.

``docs/reference/commands.md`` is made of the parsers of all commands, ``docs/reference/measures.md`` of the docstrings of
the public statistics. A test compares both with the code.
"""

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs/reference"
SETTINGS = ("config.settings.test", "config.settings.marketplace_test")
OF_DJANGO = {
    "help",
    "version",
    "verbosity",
    "settings",
    "pythonpath",
    "traceback",
    "no_color",
    "force_color",
    "skip_checks",
}
# Where a guide tells more about a command.
GUIDES = {
    "plan": "../explanation/plans.md",
    "replay": "../explanation/replays.md",
    "archive": "../how-to/move-a-campaign.md",
    "archive_import": "../how-to/move-a-campaign.md",
    "backup": "../how-to/back-up-and-restore.md",
    "restore": "../how-to/back-up-and-restore.md",
    "import_items": "tables.md",
    "import_gold": "tables.md",
    "add_workforce": "workforces.md",
    "crowd_report": "../explanation/agreement.md",
    "study": "../explanation/studies.md",
    "verify_verdicts": "../explanation/quality.md",
    "release": "../how-to/publish-a-dataset.md",
    "release_paper": "../how-to/publish-a-dataset.md#write-the-paper",
    "evaluate": "../how-to/score-predictions.md",
    "baseline": "../how-to/train-baselines.md",
    "source": "../how-to/from-raw-material-to-items.md",
    "marketplace_serve": "../how-to/run-the-marketplace.md",
    "marketplace_fault": "../how-to/point-boto3-at-quorate.md",
}
COMMANDS_HEAD = """# Commands

Run a command as `manage.py NAME`. Each explains itself with `--help`. Commands about a campaign print results with `--json`, and progress on standard error.

Commands that read files which others may have made take at most 2 GiB of memory, whatever the files contain. `--memory GIB` allows more; give it before the kind (`evaluate --memory 8 nq …`).

<!-- This page is generated: make reference -->
"""
MARKETPLACE_HEAD = """
# Commands of the marketplace

The marketplace is a service of its own. These commands use its settings and its database.
"""
MEASURES_HEAD = """# Measures

The statistics of annotation as a library: `from measures import alpha, judgments_of` works in any notebook, without Django or a database. Every example below runs in the tests.

<!-- This page is generated: make reference -->
"""


def commands_page() -> str:
    """Return the page of all commands, of the platform and of the marketplace."""
    platform, market = (_commands_of(settings) for settings in SETTINGS)
    market = {name: one for name, one in market.items() if name.startswith("marketplace_")}
    return COMMANDS_HEAD + _sections(platform) + MARKETPLACE_HEAD + _sections(market)


def _commands_of(settings: str) -> dict[str, Any]:
    """Return the help of an installation's commands, read by a process with its settings."""
    return _asked("--parsers", settings)


def _asked(what: str, settings: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, what],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": settings, "COLUMNS": "80"},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def parsers() -> dict[str, Any]:
    """Return the help and the options of each of our commands."""
    import django  # noqa: PLC0415  of the process that is asked

    django.setup()
    from django.core.management import get_commands, load_command_class  # noqa: PLC0415

    found = {}
    for name, app in sorted(get_commands().items()):
        if (ROOT / app.replace(".", "/")).is_dir():
            command = load_command_class(app, name)
            parser = command.create_parser("manage.py", name)
            found[name] = {"help": command.help, "parsers": list(_parsers(parser, name))}
    return found


def _parsers(parser: argparse.ArgumentParser, name: str) -> Iterator[dict[str, Any]]:
    """Yield a parser and its subparsers, each with its options."""
    options = []
    kinds: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            kinds += [(kind, made) for kind, made in action.choices.items() if made is not None]
        elif action.dest not in OF_DJANGO:
            options.append([_written(action), action.help or ""])
    yield {"name": name, "help": parser.description or "", "options": options}
    for kind, made in kinds:
        yield from _parsers(made, f"{name} {kind}")


def _written(action: argparse.Action) -> str:
    """Return an option or argument as it is written on a command line."""
    values = "" if action.nargs == 0 else action.metavar or (action.dest.upper() if action.choices is None else "")
    if action.choices is not None and not action.metavar:
        values = "{" + ",".join(map(str, action.choices)) + "}"
    values = " ".join(values) if isinstance(values, tuple) else values
    if not action.option_strings:
        return f"{values}…" if action.nargs in ("*", "+") else str(values)
    return ", ".join(action.option_strings) + (f" {values}" if values else "")


def _sections(commands: dict[str, Any]) -> str:
    return "".join(_section(name, one) for name, one in commands.items())


def _section(name: str, command: dict[str, Any]) -> str:
    """Return the section of a command: what it does, an example, and a table of options for it and each kind."""
    said, _, example = " ".join(command["help"].split()).partition("Example: ")
    lines = [f"## `{name}`", "", said.strip()]
    if name in GUIDES:
        lines += ["", f"[Guide]({GUIDES[name]})"]
    if example:
        lines += ["", "```", re.sub(r"manage\.py (backup|restore)\b", f"manage.py {name}", example).strip(), "```"]
    for parser in command["parsers"]:
        if parser["name"] != name:
            lines += ["", f"### `{parser['name']}`", "", " ".join(parser["help"].partition("Example: ")[0].split())]
        if parser["options"]:
            lines += ["", "| option | meaning |", "|---|---|"]
            lines += [f"| `{_cell(written)}` | {_cell(meaning)} |" for written, meaning in parser["options"]]
    return "\n" + "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("%%", "%").split()).replace("|", "\\|")


def measures_page() -> str:
    """Return the page of the public statistics."""
    import measures  # noqa: PLC0415  the page of commands needs no statistics

    parts = [MEASURES_HEAD]
    for module, names in measures._MODULES.items():
        about = (
            sys.modules.get(f"measures.{module}") or __import__(f"measures.{module}", fromlist=["_"])
        ).__doc__ or ""
        parts.append(f"\n## `measures.{module}`\n\n{_prose(about)}\n")
        parts += [_measure(name, getattr(measures, name)) for name in names]
    return "".join(parts)


def _measure(name: str, measure: Any) -> str:
    """Return the section of a public name, from its signature and its docstring."""
    try:
        signature = re.sub(r"measures\.\w+\.|numpy\.|collections\.abc\.|typing\.", "", str(inspect.signature(measure)))
        signature = re.sub(r"<function (\w+) at \w+>", r"\1", signature)
    except (TypeError, ValueError):
        signature = ""
    lines = [f"\n### `{name}`\n"]
    if signature and not (isinstance(measure, type) and issubclass(measure, Exception)):
        lines.append(f"```python\n{name}{signature}\n```\n")
    for heading, body in _parts(inspect.getdoc(measure) or ""):
        if heading:
            lines.append(f"**{heading}**\n")
        if heading == "Examples":
            lines.append(f"```python\n{body}\n```\n")
        elif heading in ("Parameters", "Attributes", "Returns", "Raises"):
            lines.append("\n".join(_entries(body)) + "\n")
        elif body:
            lines.append(_prose(body) + "\n")
    return "\n".join(lines)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the sections of a docstring in numpy's form; the first has no heading."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    yield "", pieces[0].strip()
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        yield heading, body.strip()


def _entries(body: str) -> Iterator[str]:
    """Yield the entries of a section of names, as a list."""
    for entry in re.split(r"\n(?=\S)", body):
        name, _, meaning = entry.partition("\n")
        told = _prose(inspect.cleandoc(meaning)).replace("\n", " ")
        yield f"- `{name.strip()}`{': ' + told if told else ''}"


def _prose(text: str) -> str:
    """Return prose of a docstring as Markdown."""
    paragraphs = [" ".join(one.split()) for one in text.strip().split("\n\n")]
    return "\n\n".join(re.sub(r"``([^`]+)``", r"`\1`", one) for one in paragraphs)


def api_page() -> str:
    """Return the description of the REST interface, as JSON that can be compared line by line."""
    return json.dumps(_asked("--api", SETTINGS[0]), indent=1, ensure_ascii=False) + "\n"


def api() -> dict[str, Any]:
    """Return the description of the REST interface."""
    import django  # noqa: PLC0415  of the process that is asked

    django.setup()
    from api.pages import schema_of  # noqa: PLC0415

    return schema_of()


PAGES = {"commands.md": commands_page, "measures.md": measures_page, "api-v1.json": api_page}


def main() -> None:
    """Write every page, or print what a process with other settings asks for."""
    for what, answer in (("--parsers", parsers), ("--api", api)):
        if what in sys.argv:
            print(json.dumps(answer()))
            return
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
