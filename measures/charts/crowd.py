"""The charts of a report on a crowd (`manage.py crowd_report --html`)."""

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from measures.agreement import row_shares
from measures.charts import kinds
from measures.charts.kinds import MOST_NAMED, Dot, Level
from measures.charts.svg import Chart
from measures.funnel import outside

Row = Mapping[str, Any]
MOST_LABELS = 12  # of a matrix that can be read
MOST_DRAWN = 1_000  # annotators of a chart, and of the table beside it


def charts_of(found: Mapping[str, Any]) -> list[Chart]:
    """Return the charts for a report (`measures.reports.crowd_report`)."""
    charts = (_peers(found), _truth(found), _confusion(found), _doubt(found))
    return [chart for chart in charts if chart is not None]


def _peers(found: Mapping[str, Any]) -> Chart | None:
    """Draw each annotator's agreement with the others, without limits: where items differ, chance explains little."""
    rows = [row for row in found["annotator_table"] if row["peers_of"]]
    if len(rows) < 2:
        return None
    together = sum(row["peers"] * row["peers_of"] for row in rows) / sum(row["peers_of"] for row in rows)
    least = {row["annotator"] for row in sorted(rows, key=lambda row: row["peers_high"])[:MOST_NAMED]}
    text = (
        f"{len(rows):,} annotators; together they agree with another judgment of the item in {100 * together:.1f}% of cases. "
        f"Named: those whose interval ends lowest.{_left_out(rows)}"
    )
    rows = _drawn(rows, "peers_of", least)
    dots = [Dot(row["peers_of"], row["peers"], _name(row) if row["annotator"] in least else "") for row in rows]
    table = [
        (_name(row), row["peers_of"], *(round(row[key], 3) for key in ("peers", "peers_low", "peers_high")))
        for row in rows
    ]
    return Chart(
        "peers",
        "Agreement with the others, by annotator",
        text,
        (
            "Annotator",
            "Judgments of items that others judged",
            "Agreement",
            "Lower bound (95%)",
            "Upper bound (95%)",
        ),
        table,
        lambda axes: kinds.funnel(
            axes,
            dots,
            Level(together, f"all: {100 * together:.1f}%"),
            [],
            x="Judgments of an annotator",
            y="Agreement with others",
        ),
    )


def _truth(found: Mapping[str, Any]) -> Chart | None:
    """Draw a funnel plot of errors on the items with known answers."""
    rows = [row for row in found["annotator_table"] if row["truth_of"]]
    if len(rows) < 2:
        return None
    wrong = {row["annotator"]: row["truth_of"] - round(row["truth"] * row["truth_of"]) for row in rows}
    checks = sum(row["truth_of"] for row in rows)
    share = sum(wrong.values()) / checks
    worse = outside((row["annotator"], row["truth_of"], wrong[row["annotator"]]) for row in rows)
    named = set(worse[:MOST_NAMED])
    drawn = _drawn(rows, "truth_of", named)
    errors = [
        (row["truth_of"], wrong[row["annotator"]], _name(row) if row["annotator"] in named else "") for row in drawn
    ]
    text = (
        f"{len(rows):,} annotators; together {100 * share:.1f}% of {checks:,} judgments of items with a known answer are "
        f"wrong. Above the outer line, where at most 1 in 1,000 lies by chance: {len(worse):,}.{_left_out(rows)}"
    )
    together = f"all: {100 * share:.1f}%"
    return Chart(
        "truth",
        "Errors on items with a known answer, by annotator",
        text,
        ("Annotator", "Judgments", "Wrong"),
        [(_name(row), row["truth_of"], wrong[row["annotator"]]) for row in drawn],
        lambda axes: kinds.error_funnel(axes, errors, together=together, x="Judgments of known items", y="Wrong"),
    )


def _confusion(found: Mapping[str, Any]) -> Chart | None:
    names, pairs = [str(label) for label in found["labels"]], np.array(found["coincidences"], dtype=float)
    if not 2 <= len(names) <= MOST_LABELS or not pairs.sum():
        return None
    shares = row_shares(pairs)
    own = ", ".join(f"{name} {100 * shares[place, place]:.0f}%" for place, name in enumerate(names))
    return Chart(
        "confusion",
        "Label confusion between annotators",
        f"How often another annotator of the item says the same: {own}.",
        ("Label", *names),
        [(name, *(round(100 * float(share), 1) for share in shares[place])) for place, name in enumerate(names)],
        lambda axes: kinds.matrix(
            axes, names, shares, x="Label of another annotator (percent of the row)", y="Label of one annotator"
        ),
        (6.4, 3.6),
    )


def _doubt(found: Mapping[str, Any]) -> Chart | None:
    """Draw the model's certainty about the items' labels."""
    sure = sorted(row["posterior"] for row in found["item_table"])
    if len(sure) < 5:
        return None
    below = sum(value < 0.9 for value in sure)
    counts, edges = np.histogram(sure, bins=20)
    return Chart(
        "doubt",
        "How sure the model is of an item's label",
        f"{below:,} of {len(sure):,} items have a label with a probability below 0.9 (Dawid-Skene).",
        ("Probability from", "to", "Items"),
        [
            (round(float(low), 3), round(float(high), 3), int(n))
            for low, high, n in zip(edges, edges[1:], counts, strict=False)
        ],
        lambda axes: kinds.histogram(axes, sure, x="Probability of the label", y="Items"),
    )


def _drawn(rows: list[Row], key: str, named: Container[str]) -> list[Row]:
    """Return the annotators for a chart: named ones first, then those with the most judgments."""
    if len(rows) <= MOST_DRAWN:
        return rows
    return sorted(rows, key=lambda row: (row["annotator"] not in named, -row[key]))[:MOST_DRAWN]


def _left_out(rows: list[Row]) -> str:
    return f" Drawn: {MOST_DRAWN:,}, of the others those with the most judgments." if len(rows) > MOST_DRAWN else ""


def _name(row: Mapping[str, Any]) -> str:
    return str(row["annotator"])
