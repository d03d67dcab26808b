"""Types of charts: each draws numbers on axes, independent of their meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING

from measures.charts.svg import ACCENT, BAD, INK, LINE, QUIET
from measures.funnel import RARE, USUAL, limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from measures.judgments import Floats

ROOM = 1.08  # above the highest value, for what is written there
DARKEST = 0.55  # of a heat map, so that numbers can be read on it in both themes
MOST_SIGNS = 24  # of a name in a chart
MOST_NAMED = 8  # people that a chart itself names


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal line with a name, such as a cap or a floor."""

    value: float
    name: str


def columns_by_day(axes: "Axes", days: Sequence[date], values: Sequence[float], *, y: str) -> None:
    """Draw one column per day."""
    from matplotlib.dates import date2num  # noqa: PLC0415  as in `svg`

    axes.bar(list(map(date2num, days)), list(values), color=ACCENT, width=0.8)
    axes.set_ylim(0, max([*values, 1]) * ROOM)
    axes.set_ylabel(y)
    _days(axes, days)
    _whole(axes.yaxis)


def line_by_day(
    axes: "Axes", days: Sequence[date], values: Sequence[float], *, y: str, level: Level | None = None
) -> None:
    """Draw a cumulative sum by day, and a level to compare it with."""
    from matplotlib.dates import date2num  # noqa: PLC0415  as in `svg`

    axes.plot(list(map(date2num, days)), list(values), color=ACCENT, drawstyle="steps-post", marker="o", markersize=2.5)
    highest = max([*values, level.value if level else 0, 0.01])
    axes.set_ylim(0, highest * ROOM)
    axes.set_ylabel(y)
    if level:
        _level(axes, level)
    _days(axes, days)


def points_with_intervals(
    axes: "Axes",
    days: Sequence[date],
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    y: str,
) -> None:
    """Draw values with intervals, in order, each labeled with its day."""
    places = range(len(days))
    below = [value - low for value, low in zip(values, lows, strict=True)]
    above = [high - value for value, high in zip(values, highs, strict=True)]
    axes.errorbar(
        places,
        list(values),
        yerr=[below, above],
        color=ACCENT,
        ecolor=QUIET,
        elinewidth=1,
        capsize=2.5,
        marker="o",
        markersize=4,
    )
    axes.set_ylim(min([0.0, *lows]), 1)
    axes.set_xticks(list(places), [day.isoformat()[5:] for day in days])
    axes.set_ylabel(y)


@dataclass(frozen=True, slots=True)
class Dot:
    """One person: the number of checks, a share of them, and a name if it should be shown."""

    of: int
    share: float
    name: str = ""


def funnel(
    axes: "Axes", dots: Sequence[Dot], middle: Level, bounds: Sequence[tuple[str, "Floats"]], *, x: str, y: str
) -> None:
    """Draw people by the number of checks, with the limits of random variation."""
    most = max(dot.of for dot in dots)
    for place, (name, bound) in enumerate(bounds):
        axes.plot(
            range(1, len(bound) + 1), bound, color=QUIET, linewidth=1, linestyle=("--", ":")[place % 2], label=name
        )
    axes.axhline(middle.value, color=INK, linewidth=0.8, label=middle.name)
    for found, colour, marker in ((False, ACCENT, "o"), (True, BAD, "D")):
        some = [dot for dot in dots if bool(dot.name) is found]
        axes.scatter(
            [dot.of for dot in some], [dot.share for dot in some], s=16, color=colour, marker=marker, alpha=0.75
        )
    for dot in _apart([dot for dot in dots if dot.name], most):
        axes.annotate(_printable(dot.name), (dot.of, dot.share), xytext=(4, 3), textcoords="offset points", color=INK)
    axes.set_ylim(-0.02, min(1.0, max([dot.share for dot in dots] + [middle.value])) * ROOM + 0.02)
    axes.set_xlim(0, most * 1.04 + 1)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _named_above(axes)
    _whole(axes.xaxis)
    _percent(axes.yaxis)


def error_funnel(axes: "Axes", people: Sequence[tuple[int, int, str]], *, together: str, x: str, y: str) -> None:
    """Draw people as (checks, errors, shown name), with limits that 1 in 40 and 1 in 1,000 exceed by chance."""
    share = sum(wrong for _of, wrong, _name in people) / sum(of for of, _wrong, _name in people)
    most = max(of for of, _wrong, _name in people)
    bounds = [("1 in 40", limits(share, most, USUAL)), ("1 in 1,000", limits(share, most, RARE))]
    dots = [Dot(of, wrong / of, name) for of, wrong, name in people]
    funnel(axes, dots, Level(share, together), bounds, x=x, y=y)


def matrix(axes: "Axes", names: Sequence[str], shares: "Floats", *, x: str, y: str) -> None:
    """Draw row shares, which sum to 1 in each row, as a heat map with percentages."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415  as in `svg`

    axes.grid(visible=False)
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            heat = DARKEST * max(0.0, float(share))
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=ACCENT, alpha=heat, edgecolor="none"))
            axes.annotate(f"{100 * share:.0f}%", (column, row), ha="center", va="center")
    for edge in range(1, len(names)):
        axes.axhline(edge - 0.5, color=LINE, linewidth=0.6)
        axes.axvline(edge - 0.5, color=LINE, linewidth=0.6)
    places = range(len(names))
    folded = [fill(_printable(name), 14) for name in names]
    axes.set_xticks(list(places), folded)
    axes.set_yticks(list(places), folded)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


@dataclass(frozen=True, slots=True)
class Spread:
    """A share with the bounds of its interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """Values with a name."""

    name: str
    values: Sequence[float]


def bars_with_intervals(axes: "Axes", names: Sequence[str], spreads: Sequence[Spread], *, x: str) -> None:
    """Draw a bar for each name, first at the top, with its interval and percentage."""
    places = range(len(names))
    shares = [one.share for one in spreads]
    errors = [[one.share - one.low for one in spreads], [one.high - one.share for one in spreads]]
    axes.barh(
        list(places),
        shares,
        color=ACCENT,
        alpha=DARKEST,
        xerr=errors,
        error_kw={"ecolor": QUIET, "elinewidth": 1, "capsize": 2.5},
    )
    for place, one in enumerate(spreads):
        end = max(one.high, one.share)
        axes.annotate(f"{100 * one.share:.0f}%", (end, place), xytext=(6, 0), textcoords="offset points", va="center")
    axes.set_xlim(0, 1.15 * max([*(max(one.high, one.share) for one in spreads), 0.05]))
    axes.set_yticks(list(places), [fill(_printable(name), 18) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(x)
    axes.grid(visible=False, axis="y")
    _percent(axes.xaxis)


def stacked(axes: "Axes", names: Sequence[str], parts: Sequence[Series], *, x: str, y: str) -> None:
    """Draw a column for each name, divided into at most three parts."""
    below = [0.0] * len(names)
    for part, colour in zip(parts, (ACCENT, QUIET, BAD), strict=False):
        axes.bar(range(len(names)), list(part.values), bottom=below, color=colour, label=part.name, width=0.7)
        below = [low + value for low, value in zip(below, part.values, strict=True)]
    axes.set_xticks(range(len(names)), list(names))
    axes.set_ylim(0, max([*below, 0.05]) * ROOM)
    _named_above(axes)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _percent(axes.yaxis)


def lines(axes: "Axes", names: Sequence[str], series: Sequence[Series], *, x: str, y: str) -> None:
    """Draw at most three series over the same names, one line each, labeled at its end."""
    places = range(len(names))
    for one, colour, marker in zip(series, (ACCENT, INK, QUIET), "os^", strict=False):
        axes.plot(places, list(one.values), color=colour, marker=marker, markersize=4, label=one.name)
    axes.set_xticks(list(places), list(names))
    axes.set_ylim(0, ROOM)
    _named_above(axes)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _percent(axes.yaxis)


def falling_curves(axes: "Axes", places: Sequence[float], series: Sequence[Series], *, x: str, y: str) -> None:
    """Draw at most five series over numbers, on a logarithmic scale; values that aren't finite are left out."""
    for one, colour, (marker, dash) in zip(
        series,
        (ACCENT, INK, QUIET, BAD, ACCENT),
        (("o", "-"), ("s", "-"), ("^", "-"), ("d", "-"), ("v", "--")),
        strict=False,
    ):
        there = [(at, value) for at, value in zip(places, one.values, strict=True) if isfinite(value)]
        axes.plot(
            *zip(*there, strict=True) if there else ([], []),
            dash,
            color=colour,
            marker=marker,
            markersize=4,
            label=one.name,
        )
    axes.set_yscale("log")
    axes.legend(loc="upper right")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def path_to_level(
    axes: "Axes",
    done: Sequence[tuple[float, float]],
    to_come: Sequence[tuple[float, float]],
    level: Level,
    *,
    x: str,
    y: str,
) -> None:
    """Draw a share against the money spent, its expected continuation (dashed), and the target level."""
    for points, style, marker in ((done, "-", "o"), (to_come, "--", None)):
        if points:
            axes.plot(*zip(*points, strict=True), color=ACCENT, linestyle=style, marker=marker, markersize=3)
    axes.set_ylim(0, max([level.value, *(share for _spent, share in [*done, *to_come])]) * ROOM)
    axes.set_xlim(left=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _level(axes, level)
    _percent(axes.yaxis)


def histogram(axes: "Axes", values: Sequence[float], *, x: str, y: str, level: Level | None = None) -> None:
    """Draw a histogram of values, with a level to compare them with."""
    bins = max(5, min(30, round(len(values) ** 0.5)))
    axes.hist(list(values), bins=bins, color=ACCENT, edgecolor=LINE, linewidth=0.4)
    if level:
        axes.axvline(level.value, color=INK, linewidth=1, linestyle="--")
        axes.annotate(
            level.name,
            (level.value, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
        )
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    _whole(axes.yaxis)


def _apart(dots: Sequence[Dot], most: int) -> list[Dot]:
    """Return dots whose names don't overlap; earlier dots take precedence."""
    kept: list[Dot] = []
    for dot in dots:
        if all(abs(dot.of - one.of) > most / 10 or abs(dot.share - one.share) > 0.06 for one in kept):
            kept.append(dot)
    return kept


def _printable(name: str) -> str:
    """Return a name without characters that XML doesn't allow, shortened for a chart."""
    return "".join(sign for sign in name if sign.isprintable())[:MOST_SIGNS]


def _named_above(axes: "Axes") -> None:
    """Put the legend above the plot, where it doesn't cover anything."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.3, handlelength=1.6)


def _level(axes: "Axes", level: Level) -> None:
    axes.axhline(level.value, color=INK, linewidth=1, linestyle="--")
    axes.annotate(
        level.name,
        (0, level.value),
        xycoords=("axes fraction", "data"),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
    )


def _days(axes: "Axes", days: Sequence[date]) -> None:
    """Label a few days with month and day."""
    from matplotlib.dates import AutoDateLocator, DateFormatter  # noqa: PLC0415  as in `svg`

    locator = AutoDateLocator(minticks=2, maxticks=8, interval_multiples=False)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(DateFormatter("%m-%d"))  # type: ignore[no-untyped-call]
    if len(days) == 1:
        axes.margins(x=2)


def _whole(axis: "Axis") -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  as in `svg`

    axis.set_major_locator(MaxNLocator(6, integer=True))


def _percent(axis: "Axis") -> None:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415  as in `svg`

    axis.set_major_formatter(PercentFormatter(1, decimals=None, symbol="%"))
