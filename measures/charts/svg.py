"""Charts: their data, their style, and their embedding in pages with a strict content security policy.

Drawn by matplotlib, which is imported with the first chart or by `prepare_soon`. One thread uses it at a time, since it isn't thread-safe.
"""

import csv
import io
import re
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from defusedxml.ElementTree import fromstring

from storage.tables.cells import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The colors of the light theme (static/css/tokens.css). In a page each becomes the name of its token.
INK, QUIET, LINE, ACCENT, SOFT, BAD, PAPER = (
    "#1b1e24",
    "#565d6b",
    "#d5d9e0",
    "#1f5fbf",
    "#e5eefb",
    "#b3261e",
    "#ffffff",
)
TOKENS = {
    INK: "text",
    QUIET: "text-quiet",
    LINE: "border",
    ACCENT: "accent",
    SOFT: "accent-soft",
    BAD: "bad",
    PAPER: "surface",
}
_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_LOCK = threading.Lock()
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.labelsize": 10,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "axes.grid": True,
    "axes.grid.axis": "both",
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "patch.linewidth": 0,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its numbers.

    ``text`` describes the chart in a sentence, for people who can't see it; ``header`` and ``rows`` hold its numbers as
    a table. ``draw`` draws it on axes.
    """

    key: str
    title: str
    text: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    draw: "Callable[[Axes], None]"
    inches: tuple[float, float] = (6.0, 3.2)


def prepare_soon(seconds: float) -> None:
    """Import what draws charts after some seconds, in the background: the first chart would wait a second for it."""
    timer = threading.Timer(seconds, _prepare)
    timer.daemon = True
    timer.start()


def _prepare() -> None:
    with _LOCK:
        for module in ("matplotlib.figure", "matplotlib.backends.backend_svg"):
            import_module(module)


def as_csv(chart: Chart) -> str:
    """Return the numbers of a chart as CSV; names are escaped so that spreadsheets don't run them as formulas."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(chart.header)
    writer.writerows([harmless(cell) if isinstance(cell, str) else cell for cell in row] for row in chart.rows)
    return file.getvalue()


def as_file(chart: Chart) -> str:
    """Return a chart as a separate file with a white background."""
    with _LOCK, warnings.catch_warnings():
        # Text stays text, which the reader's fonts show: it does not matter what the fonts here lack.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        import matplotlib as mpl  # noqa: PLC0415  most processes never draw
        from matplotlib.figure import Figure  # noqa: PLC0415

        with mpl.rc_context({**_STYLE, "svg.hashsalt": chart.key}):
            figure = Figure(figsize=chart.inches, layout="constrained")
            chart.draw(figure.subplots())
            file = io.StringIO()
            about = {"Date": None, "Creator": None, "Title": chart.title, "Description": chart.text}
            figure.savefig(file, format="svg", metadata=about)
    return file.getvalue()


def in_page(chart: Chart) -> str:
    """Return a chart as a page element with the page's colors and fonts, no styles, and a text for screen readers."""
    root = fromstring(as_file(chart))
    for child in list(root):
        if child.tag == f"{_SVG}metadata" or child.find(f"{_SVG}style") is not None:
            root.remove(child)
    for element in root.iter():
        _without_style(element)
        _with_own_names(element, chart.key)
    root.attrib |= {"class": "plot", "role": "img", "aria-label": f"{chart.title}. {chart.text}"}
    for size in ("width", "height"):  # the page's style gives both
        root.attrib.pop(size, None)
    ET.register_namespace("", _SVG[1:-1])
    ET.register_namespace("xlink", _XLINK[1:-1])
    return ET.tostring(root, encoding="unicode")


def _without_style(element: ET.Element) -> None:
    """Convert the style of an element to attributes, and its colors to the page's."""
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name and name != "font-family":
            element.set(name, f"var(--{TOKENS[value]})" if value in TOKENS else value)


def _with_own_names(element: ET.Element, key: str) -> None:
    """Keep ids that are referred to, made unique on a page with several charts; remove the others."""
    if "id" in element.attrib:
        if element.tag in (f"{_SVG}clipPath", f"{_SVG}path"):
            element.set("id", f"{key}-{element.get('id')}")
        else:
            del element.attrib["id"]
    for name, value in element.attrib.items():
        if name == f"{_XLINK}href":
            element.set(name, value.replace("#", f"#{key}-"))
        else:
            element.set(name, re.sub(r"url\(#", f"url(#{key}-", value))
