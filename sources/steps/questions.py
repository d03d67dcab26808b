"""``source questions``: selects the questions of a collection to be asked."""

from argparse import ArgumentParser
from fractions import Fraction
from pathlib import Path
from typing import Any

from annotation.slots.ordering import seeded
from sources.records import read_questions
from sources.rules.near_duplicates import Denominator, Overlap
from sources.rules.questions import EXCLUDED, LEAST_TERMS, NEAR, Filters, filtered
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import share

KEY, VERSION = "questions", 1
HELP = (
    "Filter the questions of nfL6 (or any file of id, question, nbestanswers, answer, main_category) as ANTIQUE did: too "
    "short, without a best answer, near duplicates, excluded categories; then draw a sample. kept.jsonl can be imported."
)
KEPT, DROPPED = "kept.jsonl", "dropped.jsonl"
MOST_SHOWN = 5
_OF = {
    "longer": "the longer text",
    "all": "both texts together",
    "mean": "their mean length",
    "shorter": "the shorter text",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="JSON, JSON lines, CSV, or TSV file; plain or compressed"
    )
    parser.add_argument(
        "--least-terms",
        type=int,
        default=LEAST_TERMS,
        metavar="N",
        help=f"minimum number of terms per question (default {LEAST_TERMS})",
    )
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="CATEGORY",
        help=f"main_category to leave out, repeatable (default {' and '.join(EXCLUDED)}; --exclude '' for none)",
    )
    parser.add_argument(
        "--overlap",
        type=share,
        default=Fraction(9, 10),
        metavar="SHARE",
        help="two questions that have more of their terms in common are near duplicates (default 0.9)",
    )
    parser.add_argument(
        "--overlap-of",
        choices=[*Denominator],
        default=Denominator.LONGER,
        help="what it is a share of: the longer text (default), all terms (Jaccard), the mean length (Dice), the "
        "shorter text (containment)",
    )
    parser.add_argument(
        "--or-equal", action="store_true", help="a share that equals it is enough; the paper does not say"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="size of the sample to draw from the remaining rows")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the file."""
    return {"questions": [options["file"]]}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the filters.

    Raises
    ------
    StepError
        A number is out of range.
    """
    if options["least_terms"] < 0 or (options["sample"] or 0) < 0:
        raise StepError("numbers are at least 0")
    if options["overlap"] == 1 and not options["or_equal"]:
        raise StepError("no share is above 1: add --or-equal, for questions with the same terms")
    excluded = EXCLUDED if options["exclude"] is None else tuple(filter(None, options["exclude"]))
    return {
        "least_terms": options["least_terms"],
        "excluded": list(excluded),
        "overlap": str(options["overlap"]),
        "overlap_of": str(options["overlap_of"]),
        "or_equal": options["or_equal"],
        "sample": options["sample"],
    }


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Filter the questions; the file is read twice, so that it is never in memory as a whole."""
    path = given.file("questions")
    said = given.parameters
    overlap = Overlap(Fraction(said["overlap"]), Denominator(said["overlap_of"]), not said["or_equal"])
    filters = Filters(said["least_terms"], tuple(said["excluded"]), overlap, said["sample"])
    outcome = filtered(read_questions(path), filters, lambda key: seeded(given.seed, "question", key))
    out.begin(KEPT, DROPPED)
    samples: dict[str, list[str]] = {}
    read = 0
    for one in read_questions(path):
        read += 1
        origin = given.origin(path, one.row, one.record.get("origin"))
        if one.id not in outcome.dropped:
            out.row(KEPT, {**one.record, "origin": origin})
            continue
        why, more = outcome.dropped[one.id]
        out.row(DROPPED, {"id": one.id, "question": one.record["question"], "why": why, **more, "origin": origin})
        if len(shown := samples.setdefault(why, [])) < MOST_SHOWN:
            shown.append(one.record["question"][:200])
    return {
        "read": read,
        "kept": read - len(outcome.dropped),
        "dropped": outcome.together,
        "alone": outcome.alone,
        "samples": samples,
    }


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    said = report["parameters"]
    near = (
        f"{'at least' if said['or_equal'] else 'more than'} {said['overlap']} of the terms of {_OF[said['overlap_of']]}"
    )
    lines = [f"{report['read']:,} questions read, {report['kept']:,} kept"]
    for why, n in report["dropped"].items():
        alone = f" ({report['alone'][why]:,} by this filter alone)" if why in report["alone"] else ""
        lines.append(f"  {n:>8,} dropped: {why}{alone}")
        lines += [f"             {question}" for question in report["samples"].get(why, [])]
    lines.append(f"{NEAR}: {near}")
    return "\n".join(lines)
