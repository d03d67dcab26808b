"""``source triples``: selects facts of a knowledge base, for writing questions."""

import hashlib
import heapq
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from annotation.slots.ordering import seeded
from annotation.tasktypes.kbqa.items import BETWEEN, MOST_FACTS, SEVERAL
from sources.rules.triples import Triple, triple_of
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import named_apart
from storage.text_files import LineFault, text_lines

KEY, VERSION = "triples", 1
HELP = (
    "Draw a sample of facts from a knowledge base, each with the other facts about its subject, for the task "
    "type KBQA. Reads s ||| p ||| o, three columns, and N-Triples."
)
ROWS, DAMAGED = "triples.jsonl", "damaged.jsonl"
LONGEST = 100
MOST_TOLD = 10_000  # damaged lines that are written down
LONG, PREDICATE, NOT_DRAWN = "long", "predicate", "not drawn"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="files of the knowledge base in UTF-8; plain or compressed"
    )
    parser.add_argument("--sample", type=int, required=True, metavar="N", help="number of facts to draw")
    parser.add_argument(
        "--predicate", action="append", default=[], metavar="NAME", help="only facts with this predicate; repeatable"
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="no facts with this predicate; repeatable"
    )
    parser.add_argument(
        "--alias",
        action="append",
        default=[],
        metavar="NAME",
        help="predicate whose objects are other names of the subject; repeatable",
    )
    parser.add_argument(
        "--longest",
        type=int,
        default=LONGEST,
        metavar="N",
        help=f"maximum number of characters in a part of a fact (default {LONGEST})",
    )


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the files of the knowledge base, after a check that their names differ."""
    return {"facts": named_apart(options["files"], "files")}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the size of the sample and the filters.

    Raises
    ------
    StepError
    """
    if options["sample"] < 1 or options["longest"] < 1:
        raise StepError("a sample and the longest part are at least 1")
    return {name: options[name] for name in ("sample", "predicate", "without", "alias", "longest")}


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Read the knowledge base twice: to draw facts, then to find other facts about their subjects.

    Only these facts are kept in memory.
    """
    out.begin(ROWS, DAMAGED)
    drawn, counts = _drawn(given, out)
    facts = _facts(given, {triple.subject for triple in drawn})
    aliases, about = frozenset(given.parameters["alias"]), _About("", {}, [])
    for triple, (file, row) in sorted(drawn.items()):  # those of one subject one after the other
        if about.subject != triple.subject:
            about = _about(triple.subject, facts[triple.subject], aliases)
        out.row(
            ROWS,
            {
                "id": hashlib.sha256(f" {BETWEEN} ".join(triple).encode()).hexdigest()[:16],
                "triple": f" {BETWEEN} ".join(about.merged[triple.predicate]),
                "aliases": about.aliases,
                "facts": [f"{one.predicate} {BETWEEN} {one.object}" for one in _others(triple, about)],
                "origin": given.origin(given.inputs["facts"][file], row),
            },
        )
    return counts | {"kept": len(drawn), "subjects": len(facts)}


def _lines(given: Given, out: Outputs | None = None) -> Iterator[tuple[int, int, Triple | None]]:
    """Yield file, line and fact; None for damaged lines, which are also logged if ``out`` is given."""
    told = 0
    for file, path in enumerate(given.inputs["facts"]):
        for number, line in text_lines(path):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                yield file, number, triple_of(line)
            except LineFault as fault:
                if out is not None and told < MOST_TOLD:
                    told += 1
                    out.row(DAMAGED, {"file": path.name, "row": number, "why": str(fault), "line": line[:200]})
                yield file, number, None


def _drawn(given: Given, out: Outputs) -> tuple[dict[Triple, tuple[int, int]], dict[str, Any]]:
    """Return a sample of the facts that pass the filters, each with its first position."""
    said = given.parameters
    read = damaged = passed = 0
    dropped = {LONG: 0, PREDICATE: 0, NOT_DRAWN: 0}
    least: list[tuple[int, Triple]] = []  # the greatest place of the sample first
    place: dict[Triple, tuple[int, int]] = {}
    for file, row, triple in _lines(given, out):
        read += 1
        if triple is None:
            damaged += 1
            continue
        why = _left_out(triple, said)
        if why:
            dropped[why] += 1
            continue
        passed += 1
        if triple in place:
            continue
        key = -seeded(given.seed, "triple", *triple)
        if len(least) < said["sample"]:
            heapq.heappush(least, (key, triple))
        elif key > least[0][0]:
            place.pop(heapq.heapreplace(least, (key, triple))[1])
        else:
            continue
        place[triple] = file, row
    dropped[NOT_DRAWN] = passed - len(place)
    return place, {"read": read, "damaged": damaged, "dropped": dropped}


def _left_out(triple: Triple, said: Mapping[str, Any]) -> str:
    if triple.predicate in (*said["without"], *said["alias"]) or (
        said["predicate"] and triple.predicate not in said["predicate"]
    ):
        return PREDICATE
    return LONG if max(map(len, triple)) > said["longest"] else ""


def _facts(given: Given, subjects: set[str]) -> dict[str, list[Triple]]:
    facts: dict[str, dict[Triple, None]] = defaultdict(dict)
    for _file, _row, triple in _lines(given):
        if triple is not None and triple.subject in subjects:
            facts[triple.subject][triple] = None
    return {subject: list(own) for subject, own in facts.items()}


class _About(NamedTuple):
    """The facts about a subject, merged by predicate as in the published files, and its other names."""

    subject: str
    merged: dict[str, Triple]
    aliases: list[str]


def _about(subject: str, facts: list[Triple], aliases: frozenset[str]) -> _About:
    objects: dict[str, list[str]] = defaultdict(list)
    for one in facts:
        objects[one.predicate].append(one.object)
    merged = {predicate: Triple(subject, predicate, SEVERAL.join(several)) for predicate, several in objects.items()}
    names = [one.object for one in facts if one.predicate in aliases and one.object != subject]
    return _About(subject, merged, list(dict.fromkeys(names)))


def _others(triple: Triple, about: _About) -> list[Triple]:
    """Return a subject's facts, one per predicate; the chosen fact is among the first hundred."""
    first = list(islice(about.merged.values(), MOST_FACTS))
    asked = about.merged[triple.predicate]
    return first if asked in first else [*first[:-1], asked]


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    names = {
        LONG: f"a part has more than {report['parameters']['longest']} signs",
        PREDICATE: "by predicate",
        NOT_DRAWN: NOT_DRAWN,
    }
    lines = [
        f"{report['read']:,} lines read, {report['damaged']:,} of them damaged ({DAMAGED} names the first {MOST_TOLD:,})",
        f"{report['kept']:,} facts drawn, of {report['subjects']:,} subjects",
    ]
    return "\n".join(lines + [f"  {n:>10,} dropped: {names[key]}" for key, n in report["dropped"].items()])
