"""`evaluate ranking`: how many items and votes it takes to tell systems apart."""

import argparse
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluation.files import EvaluationError
from evaluation.rectified.files import read_systems

if TYPE_CHECKING:
    from measures.ranking import Pair, PowerTest

HELP = "plan a ranking: the judged items and votes until two systems are told apart, from a pilot or from assumptions"
DIFFERENCES = "1,2,3,5,10"
VOTES = (1, 3, 5)
FEWEST_SYSTEMS = 2


class Way(NamedTuple):
    """A way of judging answers: the pair of systems as far as it is told apart by it, its error, and its votes."""

    name: str
    pair: "Pair"
    wrong: float = 0.0
    votes: int = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    for name, told in (
        ("scores", "item, system, and score (the automatic score of each answer)"),
        ("judged", "item, system, and judgment (by people, 0 to 1) of a random sample of items"),
    ):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"table of a pilot with the columns {told}")
    parser.add_argument(
        "--spread",
        type=float,
        metavar="SHARE",
        help="without a pilot: share of items in which exactly one of two systems is right",
    )
    parser.add_argument(
        "--explained",
        type=float,
        default=0.0,
        metavar="R2",
        help="without a pilot: share of the variance of differences that automatic scores explain (default 0)",
    )
    parser.add_argument(
        "--items", type=int, metavar="N", help="number of items with automatic scores (default: the pilot's)"
    )
    parser.add_argument(
        "--differences",
        default=DIFFERENCES,
        metavar="POINTS",
        help=f"differences to find, in percentage points (default {DIFFERENCES})",
    )
    parser.add_argument("--power", type=float, default=0.8, help="probability of finding a difference (default 0.8)")
    parser.add_argument("--systems", type=int, default=2, help="number of systems; all pairs are compared (default 2)")
    parser.add_argument(
        "--vote-error", type=float, metavar="SHARE", help="share of wrong votes of one annotator, to plan with votes"
    )
    parser.add_argument("--chart", type=Path, metavar="FILE", help="also draw the curves to this file (.svg)")


def report(options: dict[str, Any]) -> dict[str, Any]:
    """Return the report.

    Raises
    ------
    EvaluationError
    """
    from measures.ranking import PowerTest  # noqa: PLC0415  numpy, scipy

    try:
        pilot, items = _pilot(options)
        systems = options["systems"]
        if systems < FEWEST_SYSTEMS or items < 1:
            raise EvaluationError(f"--systems must be at least {FEWEST_SYSTEMS}, and --items at least 1")
        test, ways = PowerTest(options["power"], pairs=systems * (systems - 1) // 2), _ways(options, pilot)
        rows = [_row(points, ways, test, items, systems) for points in _numbers(options["differences"])]
    except ValueError as error:
        raise EvaluationError(str(error)) from error
    result = {
        **pilot,
        "all_items": None if items == inf else items,
        "power": options["power"],
        "systems": systems,
        "by": [way.name for way in ways],
        "rows": rows,
    }
    if options["chart"]:
        _draw(result, options["chart"])
    return result


def _ways(options: dict[str, Any], pilot: dict[str, Any]) -> list[Way]:
    """Return the ways of judging to plan: by experts, with automatic scores, and by votes if their error is given."""
    from measures.ranking import Pair, wrong_by_majority  # noqa: PLC0415

    without = Pair(pilot["spread"])
    found = [Way("experts", without)]
    if pilot["explained"]:
        found.append(Way("experts and automatic scores", Pair(pilot["spread"], pilot["explained"])))
    if (error := options["vote_error"]) is not None:
        names = {votes: f"majority of {votes}" if votes > 1 else "one vote" for votes in VOTES}
        found += [Way(name, without, wrong_by_majority(error, votes), votes) for votes, name in names.items()]
    return found


def _row(points: float, ways: list[Way], test: "PowerTest", items: float, systems: int) -> dict[str, Any]:
    """Return the items and judgments that a difference needs, in each way; None where these items aren't enough."""
    from measures.ranking import items_needed  # noqa: PLC0415

    needed = [
        None  # more than these systems can differ
        if points / 100 > way.pair.spread
        else items_needed(points / 100, way.pair, test, wrong=way.wrong, items=items)
        for way in ways
    ]
    judgments = [None if n is None else n * systems * way.votes for n, way in zip(needed, ways, strict=True)]
    return {"points": points, "items": needed, "judgments": judgments}


def _pilot(options: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """Return the spread and the explained share: the median of a pilot's pairs, or what was given; and the number of items."""
    import numpy as np  # noqa: PLC0415

    from measures.ranking import pairs_of  # noqa: PLC0415
    from measures.rectified import LEAST, Board, TooFewJudged  # noqa: PLC0415

    if bool(options["scores"]) is not bool(options["judged"]) or bool(options["scores"]) is (
        options["spread"] is not None
    ):
        raise EvaluationError("a plan needs --scores and --judged of a pilot, or --spread")
    if not options["scores"]:
        return {"spread": options["spread"], "explained": options["explained"], "pairs": []}, (
            inf if options["items"] is None else options["items"]
        )
    read = read_systems(options["scores"], options["judged"])
    try:
        board = Board(read.scores, read.judged, read.judgments, np.zeros(len(read.items), dtype=np.int64))
    except TooFewJudged as error:
        raise EvaluationError(f"{options['judged']}: {error.judged} judged items; {LEAST} are needed") from error
    pairs = pairs_of(board)
    if not pairs:
        raise EvaluationError(f"{options['judged']}: a pilot needs two systems with different judgments")
    rows = [{"first": a, "second": b, "spread": p.spread, "explained": p.explained} for (a, b), p in pairs.items()]
    middle = {name: float(np.median([row[name] for row in rows])) for name in ("spread", "explained")}
    return {**middle, "pairs": rows}, len(read.items) if options["items"] is None else options["items"]


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise EvaluationError(f"--differences {text!r}: expected numbers such as 1,2,5") from error


def _draw(result: dict[str, Any], path: Path) -> None:
    from measures.charts.kinds import Series, falling_curves  # noqa: PLC0415  half a second
    from measures.charts.svg import Chart, as_file  # noqa: PLC0415

    rows = result["rows"]
    series = [
        Series(name, [inf if row["items"][place] is None else row["items"][place] for row in rows])
        for place, name in enumerate(result["by"])
    ]
    points = [row["points"] for row in rows]
    chart = Chart(
        key="ranking",
        title="Items to judge until two systems are told apart",
        text=text(result),
        header=["points", *result["by"]],
        rows=[[row["points"], *row["items"]] for row in rows],
        draw=lambda axes: falling_curves(axes, points, series, x="Difference (percentage points)", y="Items to judge"),
    )
    try:
        path.write_text(as_file(chart), encoding="utf-8")
    except OSError as error:
        raise EvaluationError(f"{path}: {error.strerror}") from error


def text(report: dict[str, Any]) -> str:
    """Return the report as readable text."""
    lines = [
        f"Exactly one of two systems is right in {report['spread']:.1%} of the items"
        + (f" (median of {len(report['pairs'])} pairs of the pilot)" if report["pairs"] else "")
        + f"; automatic scores explain {report['explained']:.0%} of the variance of their difference.",
        f"Items to judge until a difference is found with probability {report['power']:g}"
        + (f", all pairs of {report['systems']} systems compared" if report["systems"] > 2 else "")
        + ", and judgments in all:",
        "",
        "points  " + "  ".join(f"{name:>30}" for name in report["by"]),
    ]
    for row in report["rows"]:
        cells = [
            ("cannot differ so much" if row["points"] / 100 > report["spread"] else "not with these items")
            if items is None
            else f"{items:,} ({judgments:,})"
            for items, judgments in zip(row["items"], row["judgments"], strict=True)
        ]
        lines.append(f"{row['points']:>6g}  " + "  ".join(f"{cell:>30}" for cell in cells))
    return "\n".join(lines)
