"""``source heuristics``: selects queries that look like questions, by the five rules of Natural Questions."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.slots.ordering import seeded
from sources.records import read_records
from sources.rules.heuristics import RULES, rules_of
from sources.rules.queries import text_of
from sources.step import Given, Outputs, StepError
from sources.tagging.base import Tagger, TaggerMissing
from sources.tagging.lexicon import LexiconTagger
from sources.tagging.spacy import SpacyTagger
from storage.text_files import LineFault, naming, text_lines

KEY, VERSION = "heuristics", 1
HELP = (
    "Keep the queries that look like questions by the five syntactic rules of Natural Questions (section "
    "3.1). The report shows what each rule kept, alone and together, with samples."
)
KEPT, DROPPED = "kept.jsonl", "dropped.jsonl"
TAGGERS: dict[str, type[Tagger]] = {tagger.key: tagger for tagger in (SpacyTagger, LexiconTagger)}
_AT_ONCE, _SAMPLES = 4_096, 10


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="queries: kept.jsonl from the queries step, or rows with question or query",
    )
    parser.add_argument(
        "--tagger",
        choices=list(TAGGERS),
        default=SpacyTagger.key,
        help="tagger for parts of speech and entities: spacy (an extra, the default) or lexicon (closed word "
        "classes only; the report says what it misses)",
    )
    parser.add_argument(
        "--kinds",
        type=Path,
        metavar="FILE",
        help="nouns that name kinds of things: kinds.tsv from the kinds step, or one noun per line (default: a list of 800 common nouns)",
    )
    parser.add_argument(
        "--rules", default=",".join(RULES), metavar="LIST", help=f"rules that keep a query (default {','.join(RULES)})"
    )


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the queries, and the kinds if they are given."""
    return {"queries": [options["file"]], "kinds": [options["kinds"]] if options["kinds"] else []}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the tagger with its version, and the rules.

    Raises
    ------
    StepError
        A rule is unknown, or a requirement of the tagger isn't installed.
    """
    rules = options["rules"].split(",")
    if unknown := sorted(set(rules) - set(RULES)):
        raise StepError(f"there is no rule {unknown[0]!r}: the rules are {', '.join(RULES)}")
    return {
        "tagger": options["tagger"],
        "tagger_version": _tagger(options["tagger"]).version,
        "rules": [rule for rule in RULES if rule in rules],
    }


@cache
def _tagger(key: str) -> Tagger:
    try:
        return TAGGERS[key]()
    except TaggerMissing as error:
        raise StepError(str(error)) from error


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Tag the queries, a few thousand at a time, and separate the kept ones from the dropped ones."""
    said, tagger = given.parameters, _tagger(given.parameters["tagger"])
    if tagger.version != said["tagger_version"]:
        raise StepError(f"the tagger is {tagger.version}, and was {said['tagger_version']}")
    kinds = read_kinds(given.inputs["kinds"][0]) if given.inputs["kinds"] else common_kinds()
    out.begin(KEPT, DROPPED)
    tally = _Tally(given)
    rows = read_records(given.file("queries"), _query)
    while chunk := list(islice(rows, _AT_ONCE)):
        tagged = tagger.tag(text for _, (text, _) in chunk)
        for (number, (text, row)), words in zip(chunk, tagged, strict=True):
            rules = [rule for rule in RULES if rule in rules_of(words, kinds)]
            is_kept = not set(said["rules"]).isdisjoint(rules)
            origin = given.origin(given.file("queries"), number, row.get("origin"))
            out.row(KEPT if is_kept else DROPPED, {**row, "rules": rules, "origin": origin})
            tally.add(text, [rule for rule in rules if rule in said["rules"]])
    return {**tally.told(), "kinds": len(kinds), "cannot": dict(tagger.cannot)}


def _query(row: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return text_of(row), row


def read_kinds(path: Path) -> frozenset[str]:
    """Return the nouns of a file, the first column of each line.

    Raises
    ------
    FileFault
        A line doesn't begin with a noun.
    """
    nouns = set()
    for number, line in text_lines(path):
        with naming(path, number):
            noun = line.split("\t")[0].strip().lower()
            if not noun.isalpha():
                raise LineFault(f"{noun[:40]!r} isn't a noun")
            nouns.add(noun)
    return frozenset(nouns)


def common_kinds() -> frozenset[str]:
    """Return the default nouns that name a kind of thing, for use without a corpus."""
    return read_kinds(Path(__file__).parent.parent / "rules" / "kinds.txt")


class _Tally:
    """Counts of queries that each rule kept, alone and in total, with samples drawn with the seed."""

    def __init__(self, given: Given) -> None:
        self._seed, self._rules = given.seed, given.parameters["rules"]
        self._read = self._kept = 0
        self._holds, self._alone = dict.fromkeys(self._rules, 0), dict.fromkeys(self._rules, 0)
        self._samples: dict[str, list[tuple[int, str]]] = {name: [] for name in (*self._rules, "dropped")}

    def add(self, text: str, rules: list[str]) -> None:
        """Count a query, given the rules that hold for it."""
        self._read += 1
        self._kept += bool(rules)
        for rule in rules:
            self._holds[rule] += 1
            self._alone[rule] += len(rules) == 1
        for name in rules or ["dropped"]:
            own = self._samples[name]
            own.append((seeded(self._seed, "sample", name, text), text))
            if len(own) > 50 * _SAMPLES:
                self._samples[name] = sorted(own)[:_SAMPLES]

    def told(self) -> dict[str, Any]:
        """Return the counts."""
        samples = {name: [text for _, text in sorted(own)[:_SAMPLES]] for name, own in self._samples.items()}
        return {
            "read": self._read,
            "kept": self._kept,
            "dropped": self._read - self._kept,
            "holds": self._holds,
            "alone": self._alone,
            "samples": samples,
        }


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines, one per rule."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"{report['read']:,} queries read, {report['kept']:,} kept ({report['parameters']['tagger_version']}, {report['kinds']:,} kinds)"
    yield "rule      holds  it alone  one of them"
    for rule, holds in report["holds"].items():
        sample = (report["samples"][rule] or ["–"])[0]
        yield f"{rule:<4} {holds:>10,} {report['alone'][rule]:>9,}  {sample}"
    yield f"none {report['dropped']:>10,}            {(report['samples']['dropped'] or ['–'])[0]}"
    for rule, why in report["cannot"].items():
        if rule in report["parameters"]["rules"]:
            yield f"rule {rule} in part only: {why}"
