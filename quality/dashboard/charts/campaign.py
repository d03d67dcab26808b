"""The charts of one campaign, drawn from numbers that jobs store."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from measures.agreement import row_shares
from measures.charts import kinds
from measures.charts.kinds import MOST_NAMED, Level
from measures.charts.svg import Chart
from measures.completion import Forecast, forecast
from quality.dashboard.charts.drawings import Drawing, Numbers
from quality.labels.charts import TARGET
from quality.studies.charts import STUDIES


def chart_of(key: str, numbers: Numbers) -> Chart | None:
    """Return a chart; None if there is too little data.

    Raises
    ------
    KeyError
        There is no such chart.
    """
    drawing = DRAWINGS[key]
    return drawing.of(numbers, str(drawing.title))


def outlook(work: Mapping[str, Any], today: date) -> Forecast | None:
    """Return a forecast for the completion of launched work; today is left out, since it isn't over."""
    days, values = _daily(work, today)
    slots = work.get("slots", {})
    done = values[:-1] if days and days[-1] == today else values
    return forecast(done, slots.get("open", 0) + slots.get("held", 0))


def _daily(work: Mapping[str, Any], today: date) -> tuple[list[date], list[int]]:
    """Return the counted annotations per day, from the first day with work (at most sixty days ago) to today."""
    done = {date.fromisoformat(day): count for day, count in work.get("days", [])}
    if not done:
        return [], []
    first = max(min(done), today - timedelta(days=59))
    days = [first + timedelta(days=number) for number in range((max(today, *done) - first).days + 1)]
    return days, [done.get(day, 0) for day in days]


def _pace(numbers: Numbers, title: str) -> Chart | None:
    days, values = _daily(numbers.work, numbers.today)
    if not any(values):
        return None
    text = ngettext(
        "%(sum)s counted annotations in %(days)d day; %(most)s on the best day.",
        "%(sum)s counted annotations in %(days)d days; %(most)s on the best day.",
        len(days),
    ) % {"sum": sum(values), "days": len(days), "most": max(values)}
    return Chart(
        "pace",
        title,
        text,
        (_("Day (UTC)"), _("Counted annotations")),
        list(zip(map(str, days), values, strict=True)),
        lambda axes: kinds.columns_by_day(axes, days, values, y=_("Annotations per day")),
    )


def _agreement(numbers: Numbers, title: str) -> Chart | None:
    trend = numbers.quality.get("trend", {})
    parts = [part for part in trend.get("parts", []) if part["alpha"] is not None]
    if len(parts) < 2:
        return None
    days = [date.fromisoformat(part["until"]) for part in parts]
    values = [part["alpha"] for part in parts]
    lows = [part["alpha"] if part["low"] is None else part["low"] for part in parts]
    highs = [part["alpha"] if part["high"] is None else part["high"] for part in parts]
    name = numbers.measures.get(trend["key"], trend["key"])
    text = _(
        "%(name)s over time: items are split into %(parts)s groups by date of first answer. First group: %(first).2f. Last group: %(last).2f."
    ) % {
        "name": name,
        "parts": len(parts),
        "first": values[0],
        "last": values[-1],
    }
    header = (_("Until (UTC)"), _("Items"), _("Annotators"), "α", _("Lower bound (95%)"), _("Upper bound (95%)"))
    rows = [
        (part["until"], part["units"], part["annotators"], *(_rounded(part[key]) for key in ("alpha", "low", "high")))
        for part in parts
    ]
    return Chart(
        "agreement",
        title,
        text,
        header,
        rows,
        lambda axes: kinds.points_with_intervals(axes, days, values, lows, highs, y=_("Krippendorff's α")),
    )


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value, 3)


def _gold(numbers: Numbers, title: str) -> Chart | None:
    people = [row for row in numbers.quality.get("people", []) if row["checks"]]
    if len(people) < 2:
        return None
    checks = sum(row["checks"] for row in people)
    share = 1 - sum(row["hits"] for row in people) / checks
    outside = numbers.quality.get("outside", [])
    names = numbers.names([row["surrogate_id"] for row in people])
    named = {key: names[key] for key in outside[:MOST_NAMED]}
    misses = [(row["checks"], row["checks"] - row["hits"], named.get(row["surrogate_id"], "")) for row in people]
    text = _(
        "%(people)s annotators missed %(share).1f%% of %(checks)s gold checks. Annotators above the outer line (1 in 1,000 expected by chance): %(outside)s."
    ) % {
        "people": len(people),
        "share": 100 * share,
        "checks": checks,
        "outside": len(outside),
    }
    rows = [
        (names[row["surrogate_id"]], row["checks"], row["checks"] - row["hits"])
        for row in sorted(people, key=lambda row: row["hits"] / row["checks"])
    ]
    together = _("overall: %(share).1f%%") % {"share": 100 * share}
    return Chart(
        "gold",
        title,
        text,
        (_("Annotator"), _("Checks"), _("Missed")),
        rows,
        lambda axes: kinds.error_funnel(
            axes, misses, together=together, x=_("Gold checks per annotator"), y=_("Missed")
        ),
    )


def _confusion(numbers: Numbers, title: str) -> Chart | None:
    found = numbers.quality.get("confusion", {})
    order = {path: place for place, path in enumerate(numbers.paths)}
    kept = sorted(range(len(found.get("paths", []))), key=lambda place: order.get(found["paths"][place], len(order)))
    pairs = np.array(found.get("pairs", []))
    if len(kept) < 2 or not pairs.sum():
        return None
    pairs = pairs[np.ix_(kept, kept)].astype(float)
    names = [str(numbers.paths.get(found["paths"][place], found["paths"][place])) for place in kept]
    shares = row_shares(pairs)
    own = ", ".join(f"{name} {100 * shares[place, place]:.0f}%" for place, name in enumerate(names))
    text = _("How often another annotator gives the same label: %(own)s.") % {"own": own}
    return Chart(
        "confusion",
        title,
        text,
        (_("Answer"), *names),
        [(name, *(round(100 * float(share), 1) for share in shares[place])) for place, name in enumerate(names)],
        lambda axes: kinds.matrix(
            axes, names, shares, x=_("Label of another annotator (percent of the row)"), y=_("Label of one annotator")
        ),
        (6.0, 3.6),
    )


def _money(numbers: Numbers, title: str) -> Chart | None:
    spent = numbers.quality.get("spent", [])
    if not spent:
        return None
    days = [date.fromisoformat(day) for day, _cents in spent]
    sums = (np.cumsum([cents for _day, cents in spent]) / 100).tolist()
    caps = [row["cap_cents"] for row in numbers.quality["workforces"] if row["cap_cents"]]
    cap = Level(sum(caps) / 100, _("spending cap $%(cap)s") % {"cap": f"{sum(caps) / 100:,.2f}"}) if caps else None
    text = _("$%(sum)s paid, fees included.") % {"sum": f"{sums[-1]:,.2f}"}
    return Chart(
        "money",
        title,
        text,
        (_("Day (UTC)"), _("Total dollars, including fees")),
        [(str(day), f"{value:.2f}") for day, value in zip(days, sums, strict=True)],
        lambda axes: kinds.line_by_day(axes, days, sums, y=_("Dollars, including fees"), level=cap),
    )


def _pay(numbers: Numbers, title: str) -> Chart | None:
    cents = numbers.quality.get("wages", {}).get("active", {}).get("all", [])
    if len(cents) < 5:
        return None
    floors = [row["floor_cents"] for row in numbers.quality["workforces"] if row["floor_cents"]]
    floor = (
        Level(max(floors) / 100, _("minimum $%(floor)s") % {"floor": f"{max(floors) / 100:.2f}"}) if floors else None
    )
    below = sum(rate < max(floors) for rate in cents) if floors else 0
    text = _("%(people)s annotators. Half of them earn more than $%(median)s per active hour.") % {
        "people": len(cents),
        "median": f"{float(np.median(cents)) / 100:.2f}",
    }
    if floor:
        text += " " + _("Annotators below the minimum hourly pay: %(below)s.") % {"below": below}
    dollars = [rate / 100 for rate in cents]
    return Chart(
        "pay",
        title,
        text,
        (_("Dollars per active hour, by annotator"),),
        [(f"{rate:.2f}",) for rate in dollars],
        lambda axes: kinds.histogram(axes, dollars, x=_("Dollars per active hour"), y=_("Annotators"), level=floor),
    )


CHARTS = {
    "pace": Drawing(gettext_lazy("Daily annotations"), _pace),
    "agreement": Drawing(gettext_lazy("Agreement over time"), _agreement),
    "gold": Drawing(gettext_lazy("Gold questions missed, by annotator"), _gold),
    "confusion": Drawing(gettext_lazy("Label confusion between annotators"), _confusion),
    "money": Drawing(gettext_lazy("Money spent"), _money),
    "pay": Drawing(gettext_lazy("Hourly pay"), _pay),
}
DRAWINGS = CHARTS | STUDIES | TARGET
