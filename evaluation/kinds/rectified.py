"""`evaluate rectified`: scores of systems in human terms."""

import argparse
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError
from evaluation.rectified.files import read_systems
from evaluation.rectified.reports import LEVEL, board_report

HELP = "rectified scores: correct automatic scores of all items by people's judgments of a random sample"
MOST_PAIRS = 50  # shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--scores",
        required=True,
        type=Path,
        metavar="FILE",
        help="table with the columns item, system, and score (the automatic score of each answer); it can have stratum",
    )
    parser.add_argument(
        "--judged",
        required=True,
        type=Path,
        metavar="FILE",
        help="table with the columns item, system, and judgment (by people, 0 to 1) of a random sample of items, the "
        "same for all systems",
    )


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    from measures.rectified import LEAST, Board, TooFewJudged  # noqa: PLC0415  numpy, which other kinds don't need

    read = read_systems(options["scores"], options["judged"])
    try:
        board = Board(read.scores, read.judged, read.judgments, read.stratum)
    except TooFewJudged as error:
        where = f"stratum {read.strata[error.stratum]!r} has " if len(read.strata) > 1 else ""
        raise EvaluationError(f"{options['judged']}: {where}{error.judged} judged items; {LEAST} are needed") from error
    found = board_report(board)
    return {
        "items": len(read.items),
        "judged": len(read.judged),
        "strata": list(read.strata),
        "systems": found["systems"],
        "unjudged": [
            {"system": system, "automatic": float(scores.mean())}
            for system, scores in read.scores.items()
            if system not in read.judgments
        ],
        "pairs": found["pairs"],
        "told_apart": found["told_apart"],
    }


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    lines = [
        f"{report['items']:,} items, {report['judged']:,} of them judged by people",
        "",
        "system                    rectified (95%)            judgments alone (95%)      automatic   λ",
    ]
    for row in report["systems"]:
        weights = ", ".join(f"{one:.2f}" for one in row["weights"])
        lines.append(
            f"{row['system']:<24}  {_between(row['score'])}    {_between(row['sample'])}    {row['automatic']:.3f}       {weights}"
        )
    lines += [
        f"{row['system']:<24}  no judgments: the automatic score alone says {row['automatic']:.3f}, which may be biased"
        for row in report["unjudged"]
    ]
    pairs = f"{report['told_apart']} of {len(report['pairs'])} pairs are told apart"
    lines += ["", f"{pairs} (paired t, p by Holm below {LEVEL:.0%}; intervals are those of each pair alone):"]
    for row in sorted(report["pairs"], key=lambda row: row["p_holm"])[:MOST_PAIRS]:
        lines.append(
            f"  {row['first']} - {row['second']}: {_between(row['difference'], sign='+')}, p {row['p_holm']:.4f}"
        )
    return "\n".join(lines)


def _between(one: dict[str, float], sign: str = "") -> str:
    return f"{one['value']:{sign}.3f} ({one['low']:{sign}.3f} to {one['high']:{sign}.3f})"
