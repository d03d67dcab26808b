"""``source sentences``: splits texts into sentences, for writing questions."""

import hashlib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.slots.ordering import seeded
from annotation.tasktypes.dbqa.items import LEAST, MOST
from annotation.tasktypes.writing.texts import LONGEST
from sources.records import read_records
from sources.rules.faults import RecordFault
from sources.rules.sentences import sentences
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import named_apart
from storage.text_files import text_lines

KEY, VERSION = "sentences", 1
HELP = "Split Chinese or English texts into sentences, one document per row, for the task type DBQA."
ROWS, DROPPED = "documents.jsonl", "dropped.jsonl"
FEW, TWICE, NOT_DRAWN = "few sentences", "text stands twice", "not drawn"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files", type=Path, nargs="+", metavar="FILE", help="text files (.txt), or tables with title and text"
    )
    parser.add_argument(
        "--least",
        type=int,
        default=LEAST,
        metavar="N",
        help=f"minimum number of sentences per document (default {LEAST})",
    )
    parser.add_argument(
        "--most",
        type=int,
        default=MOST,
        metavar="N",
        help=f"maximum number of sentences per document; further sentences are dropped (default {MOST})",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="number of documents to draw")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the texts, after a check that their names differ."""
    return {"texts": named_apart(options["files"], "files")}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limits.

    Raises
    ------
    StepError
    """
    if not LEAST <= options["least"] <= options["most"] <= MOST or (options["sample"] or 0) < 0:
        raise StepError(f"a document has {LEAST} to {MOST} sentences, and a sample is at least 0")
    return {name: options[name] for name in ("least", "most", "sample")}


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Write each document with its sentences, or the reason for dropping it."""
    out.begin(ROWS, DROPPED)
    drawn, seen = _drawn(given), set[str]()
    dropped = {FEW: 0, TWICE: 0, NOT_DRAWN: 0}
    read = kept = cut = long = 0
    for path, number, title, text in _documents(given):
        read += 1
        key, found = _key(text), list(dict.fromkeys(sentences(text)))
        fit = [one for one in found if len(one) <= LONGEST]
        long += len(found) - len(fit)
        why = FEW if len(fit) < given.parameters["least"] else TWICE if key in seen else ""
        why = why or (NOT_DRAWN if drawn is not None and key not in drawn else "")
        origin = given.origin(path, number)
        if why:
            dropped[why] += 1
            out.row(DROPPED, {"title": title, "sentences": len(fit), "why": why, "origin": origin})
            continue
        seen.add(key)
        kept += 1
        cut += len(fit) > given.parameters["most"]
        out.row(ROWS, {"id": key, "title": title, "sentences": fit[: given.parameters["most"]], "origin": origin})
    return {"read": read, "kept": kept, "dropped": dropped, "cut": cut, "long_sentences": long}


def _documents(given: Given) -> Iterator[tuple[Path, int, str, str]]:
    """Yield file, row, title and text of each document; a .txt file is one document, with its name as the title."""
    for path in given.inputs["texts"]:
        if path.suffix == ".txt":
            yield path, 1, path.stem, "\n".join(line for _number, line in text_lines(path))
        else:
            for number, (title, text) in read_records(path, _titled):
                yield path, number, title, text


def _titled(row: Mapping[str, Any]) -> tuple[str, str]:
    title, text = row.get("title") or "", row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise RecordFault("text", "is missing")
    if not isinstance(title, str):
        raise RecordFault("title", "isn't text")
    return " ".join(title.split()), text


def _key(text: str) -> str:
    """Return an id derived from the text, so that a text always has the same id."""
    return hashlib.sha256("\n".join(sentences(text)).encode()).hexdigest()[:16]


def _drawn(given: Given) -> set[str] | None:
    if given.parameters["sample"] is None:
        return None
    least = given.parameters["least"]
    keys = {_key(text) for _path, _row, _title, text in _documents(given) if len(set(sentences(text))) >= least}
    return set(sorted(keys, key=lambda key: seeded(given.seed, "document", key))[: given.parameters["sample"]])


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    lines = [
        f"{report['read']:,} documents read, {report['kept']:,} kept, {report['cut']:,} of them cut at {report['parameters']['most']} sentences"
    ]
    lines += [f"  {n:>8,} dropped: {why}" for why, n in report["dropped"].items()]
    return "\n".join([*lines, f"{report['long_sentences']:,} sentences with more than {LONGEST} signs are left out"])
