"""``source queries``: selects the queries of a log that can be questions."""

import hashlib
import sqlite3
from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from annotation.items.services.scratch import scratch_table
from annotation.slots.ordering import seeded
from sources.records import read_records
from sources.rules.queries import LEAST_USERS, LEAST_WORDS, WINDOW_HOURS, most_users, query_of
from sources.step import Given, Outputs, StepError
from sources.steps.arguments import named_apart

KEY, VERSION = "queries", 1
HELP = (
    "Select queries from query logs as Natural Questions did: queries of 8 words or more that several users "
    "issued within a day, each once. Then draw a sample. Users are counted but never written."
)
KEPT, DROPPED = "kept.jsonl", "dropped.jsonl"
FEW, NOT_DRAWN = "few users", "not drawn"
_AT_ONCE = 10_000
MOST_HOURS = 24 * 366


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="query logs as JSON lines, CSV, or TSV with query, user, and time; plain or compressed",
    )
    parser.add_argument(
        "--least-words",
        type=int,
        default=LEAST_WORDS,
        metavar="N",
        help=f"minimum number of words (default {LEAST_WORDS}, as in the paper)",
    )
    parser.add_argument(
        "--least-users",
        type=int,
        default=LEAST_USERS,
        metavar="N",
        help=f"minimum number of users within the window (default {LEAST_USERS}; the paper says several)",
    )
    parser.add_argument(
        "--hours",
        type=int,
        default=WINDOW_HOURS,
        metavar="N",
        help=f"length of the window in hours (default {WINDOW_HOURS}; the paper says a short period)",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="size of the sample to draw from the remaining rows")


def inputs(options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the logs, after a check that their names differ."""
    return {"logs": named_apart(options["files"], "logs")}


def parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return the limits.

    Raises
    ------
    StepError
    """
    if min(options["least_words"], options["least_users"], options["hours"]) < 1 or (options["sample"] or 0) < 0:
        raise StepError("words, users and hours are at least 1, and a sample at least 0")
    if options["hours"] > MOST_HOURS:
        raise StepError(f"a window has at most {MOST_HOURS:,} hours")
    return {name: options[name] for name in ("least_words", "least_users", "hours", "sample")}


class Issued(NamedTuple):
    """A query with its data from the logs: first occurrence, number of times, and the most users in a window."""

    text: str
    file: int
    row: int
    times: int
    users: int


def make(given: Given, out: Outputs) -> dict[str, Any]:
    """Count users by query, in a table that moves to disk when it is large."""
    said = given.parameters
    table = scratch_table(
        "log (query TEXT, at REAL, user TEXT, file INTEGER, row INTEGER, PRIMARY KEY (query, at, file, row))"
    )
    read, short = _fill(table, given)
    drawn = _drawn(table, given)
    out.begin(KEPT, DROPPED)
    kept, dropped = 0, {FEW: 0, NOT_DRAWN: 0}
    for one in _issued(table, said["hours"]):
        told = _row(given, one)
        if one.users >= said["least_users"] and (drawn is None or one.text in drawn):
            kept += 1
            out.row(KEPT, told)
        else:
            why = FEW if one.users < said["least_users"] else NOT_DRAWN
            dropped[why] += 1
            out.row(DROPPED, {**told, "why": why})
    return {"read": read, "short": short, "queries": kept + sum(dropped.values()), "kept": kept, "dropped": dropped}


def _fill(table: sqlite3.Connection, given: Given) -> tuple[int, int]:
    """Put the long queries of all logs into the table; return the number of rows read, and of queries too short."""
    read = short = 0
    waiting: list[tuple[Any, ...]] = []
    for file, path in enumerate(given.inputs["logs"]):
        for row, query in read_records(path, query_of):
            read += 1
            if query.words < given.parameters["least_words"]:
                short += 1
                continue
            waiting.append((query.text, query.at, query.user, file, row))
            if len(waiting) == _AT_ONCE:
                _keep(table, waiting)
    _keep(table, waiting)
    return read, short


def _keep(table: sqlite3.Connection, waiting: list[tuple[Any, ...]]) -> None:
    table.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", waiting)
    waiting.clear()


def _issued(table: sqlite3.Connection, hours: int) -> Iterator[Issued]:
    """Yield each query, in the order of its text."""
    rows = table.execute("SELECT query, at, user, file, row FROM log ORDER BY query, at, file, row")
    for text, group in groupby(rows, key=lambda row: row[0]):
        every = list(group)
        file, row = min((one[3], one[4]) for one in every)
        users = most_users(((one[1], one[2]) for one in every), hours * 3600)
        yield Issued(text, file, row, len(every), users)


def _drawn(table: sqlite3.Connection, given: Given) -> set[str] | None:
    """Return the texts of the sample; None without a sample. Rereads the table, so that only texts are in memory."""
    said = given.parameters
    if said["sample"] is None:
        return None
    left = [one.text for one in _issued(table, said["hours"]) if one.users >= said["least_users"]]
    return set(sorted(left, key=lambda text: seeded(given.seed, "query", text))[: said["sample"]])


def _row(given: Given, one: Issued) -> dict[str, Any]:
    """Return the output row of a query; its id is derived from its text, so that a text always has the same id."""
    key = hashlib.sha256(one.text.encode()).hexdigest()[:16]
    origin = given.origin(given.inputs["logs"][one.file], one.row)
    return {"id": key, "question": one.text, "times": one.times, "users": one.users, "origin": origin}


def text(report: dict[str, Any]) -> str:
    """Return the counts as lines."""
    said = report["parameters"]
    lines = [
        f"{report['read']:,} rows read, {report['short']:,} of them with fewer than {said['least_words']} words",
        f"{report['queries']:,} different queries with more, {report['kept']:,} kept",
    ]
    why = {FEW: f"fewer than {said['least_users']} users within {said['hours']} hours", NOT_DRAWN: NOT_DRAWN}
    lines += [f"  {n:>8,} dropped: {why[key]}" for key, n in report["dropped"].items()]
    return "\n".join(lines)
