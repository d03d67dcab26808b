"""``source kinds``: finds nouns that name a kind of thing, by Hearst patterns over a corpus."""

from argparse import ArgumentParser
from itertools import islice
from pathlib import Path
from typing import Any

from sources.rules.hearst import instances
from sources.step import Given, Outputs, StepError
from storage.text_files import text_lines

KEY, VERSION = "kinds", 1
HELP = (
    'Find the nouns that name kinds of things in a corpus of English text ("cities such as Lagos"). The '
    "categorical noun phrases of rules 4 and 5 of Natural Questions end in such a noun."
)
KINDS = "kinds.tsv"
LEAST_NAMES = 2
_EXAMPLES = 3


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="text files with one or more paragraphs per line; plain or compressed",
    )
    parser.add_argument(
        "--least-names",
        type=int,
        default=LEAST_NAMES,
        metavar="N",
        help=f"minimum number of different names per noun (default {LEAST_NAMES})",
    )


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the texts."""
    return {"texts": options["files"]}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limit.

    Raises
    ------
    StepError
    """
    if options["least_names"] < 1:
        raise StepError("names are at least 1")
    return {"least_names": options["least_names"]}


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write each kind with its number of different names, and some of these names."""
    names: dict[str, dict[str, None]] = {}  # in the order of the texts
    read = found = 0
    for path in given.inputs["texts"]:
        for _number, line in text_lines(path):
            read += 1
            for kind, name in instances(line):
                found += 1
                names.setdefault(kind, {})[name] = None
    kept = {kind: own for kind, own in names.items() if len(own) >= given.parameters["least_names"]}
    out.begin(KINDS)
    for kind in sorted(kept, key=lambda kind: (-len(kept[kind]), kind)):
        out.line(KINDS, "\t".join([kind, str(len(kept[kind])), " | ".join(islice(kept[kind], _EXAMPLES))]))
    return {"lines": read, "matches": found, "kinds": len(kept), "rare": len(names) - len(kept)}


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    least = report["parameters"]["least_names"]
    return (
        f"{report['lines']:,} lines read, {report['matches']:,} matches of Hearst patterns\n"
        f"{report['kinds']:,} nouns name a kind; {report['rare']:,} more have fewer than {least} names"
    )
