"""The table of results of a benchmark's paper: systems, their figures with intervals, and the published figures."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from exports.released.paper import table_tex


class Figure(NamedTuple):
    """A metric with its 95% interval; None for values that don't exist."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        """Return the figure as a table shows it."""
        if self.value is None:
            return ""
        return f"{self.value:.3f}" + (f" ({self.low:.3f}–{self.high:.3f})" if self.low is not None else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A system: its figures by metric, and those that a paper has of it."""

    system: str
    figures: Mapping[str, Figure]
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Results:
    """A table. Markdown and LaTeX show the ``shown`` metrics; CSV has all metrics, with bounds in separate columns."""

    caption: str
    metrics: Sequence[str]
    shown: Sequence[str]
    source: str  # of the published figures
    rows: Sequence[Row]

    def head(self) -> list[str]:
        """Return the names of the shown columns; columns of published figures only if there are any."""
        return ["System", *self.shown, *(f"{name}, {self.source}" for name in self._published())]

    def cells(self) -> Iterator[list[str]]:
        """Yield the shown cells of each system."""
        for row in self.rows:
            own = [str(row.figures.get(name, Figure(None))) for name in self.shown]
            yield [row.system, *own, *(str(Figure(row.paper.get(name))) for name in self._published())]

    def _published(self) -> list[str]:
        return [name for name in self.shown if any(name in row.paper for row in self.rows)]


def markdown(results: Results) -> str:
    """Return a table in Markdown."""
    head = results.head()
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *results.cells()]
    return (
        "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows)
        + f"\n\n{results.caption}\n"
    )


def comma_separated(results: Results) -> str:
    """Return a table as CSV: all metrics with their bounds."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    bounds = [f"{name}{part}" for name in results.metrics for part in ("", " low", " high")]
    writer.writerow(["system", *bounds, *(f"{name}, {results.source}" for name in results.metrics)])
    for row in results.rows:
        figures = [part for name in results.metrics for part in row.figures.get(name, Figure(None))]
        writer.writerow([row.system, *figures, *(row.paper.get(name) for name in results.metrics)])
    return file.getvalue()


def results_write(results: Results, folder: Path) -> list[Path]:
    """Write a table as ``table.md``, ``table.tex`` and ``table.csv``, and return the files."""
    texts = {
        "table.md": markdown(results),
        "table.tex": table_tex(results.caption, results.head(), results.cells()) + "\n",
        "table.csv": comma_separated(results),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
