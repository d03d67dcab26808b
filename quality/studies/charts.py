"""The charts of the studies of the Natural Questions paper, with the axes, intervals and classes of its figures."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from measures.charts import kinds
from measures.charts.kinds import Series, Spread
from measures.charts.svg import Chart
from quality.dashboard.charts.drawings import Drawing, Numbers


def results_by_kind(studies: Mapping[str, Any], study: str) -> dict[str, Mapping[str, Any]]:
    """Return the results of a study for each kind of answer; empty if the study couldn't be computed."""
    found = studies.get(study, {})
    return {} if "why" in found else dict(found)


def _spread(share: Mapping[str, Any]) -> Spread:
    return Spread(share["share"], share["low"], share["high"])


def _row(share: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple("" if share[name] is None else round(share[name], 4) for name in ("share", "low", "high"))


def _paths(numbers: Numbers, title: str) -> Chart | None:
    """Draw Figure 2: the frequency of each path through the three stages."""
    found = numbers.studies.get("statistics", {})
    if "paths" not in found:
        return None
    shares = {key: found["paths"][key] for key in numbers.paths if key in found["paths"]}
    names = [str(numbers.paths[key]) for key in shares]
    text = _("%(items)s items: %(shares)s.") % {
        "items": found["items"],
        "shares": ", ".join(
            f"{name} {100 * one['share']:.0f}%" for name, one in zip(names, shares.values(), strict=True)
        ),
    }
    return Chart(
        "paths",
        title,
        text,
        (_("Path"), _("Share"), _("Lower bound (95%)"), _("Upper bound (95%)")),
        [(name, *_row(one)) for name, one in zip(names, shares.values(), strict=True)],
        lambda axes: kinds.bars_with_intervals(
            axes, names, [_spread(one) for one in shares.values()], x=_("Share of items")
        ),
    )


def _figure_4(kind: str, numbers: Numbers, title: str) -> Chart | None:
    """Draw Figure 4: items by the share of annotators with an answer; each bar is divided by the experts' grades."""
    found = results_by_kind(numbers.studies, "variability").get(kind, {})
    if not found.get("items"):
        return None
    rows = found["figure_4"]
    bins = [f"{row['above']:g}–{row['to']:g}" for row in rows]
    grades = [(grade, str(numbers.grades.get(grade, grade))) for grade in rows[0]["grades"]]
    parts = [Series(name, [row["grades"][grade]["share"] for row in rows]) for grade, name in grades]
    text = _(
        "%(items)s items. For %(share).0f percent of them, more than 80 percent of the annotators found an answer."
    ) % {
        "items": found["items"],
        "share": 100 * rows[-1]["all"]["share"],
    }
    header = (
        _("Share of annotators who found an answer"),
        *(name for _grade, name in grades),
        _("All"),
        _("Lower bound (95%)"),
        _("Upper bound (95%)"),
    )
    table = [
        (name, *(round(row["grades"][grade]["share"], 4) for grade, _name in grades), *_row(row["all"]))
        for name, row in zip(bins, rows, strict=True)
    ]
    return Chart(
        f"figure-4-{kind}",
        f"{title}: {numbers.parts.get(kind, kind)}",
        text,
        header,
        table,
        lambda axes: kinds.stacked(
            axes, bins, parts, x=_("Share of annotators who found an answer (μ)"), y=_("Share of items")
        ),
    )


def _coverage(numbers: Numbers, title: str) -> Chart | None:
    """Draw the share of all answers that the most popular answers of each item make up."""
    found = {
        kind: one["coverage"]
        for kind, one in results_by_kind(numbers.studies, "variability").items()
        if one.get("items")
    }
    if not found:
        return None
    ranks = [str(rank) for rank in range(1, 1 + len(next(iter(found.values()))))]
    series = [
        Series(str(numbers.parts.get(kind, kind)), [one["share"] for one in shares]) for kind, shares in found.items()
    ]
    text = " ".join(
        _("%(name)s: the most frequent answer accounts for %(share).0f percent of all answers.")
        % {"name": one.name, "share": 100 * one.values[0]}
        for one in series
    )
    rows = [
        (str(numbers.parts.get(kind, kind)), rank, *_row(share))
        for kind, shares in found.items()
        for rank, share in zip(ranks, shares, strict=True)
    ]
    return Chart(
        "coverage",
        title,
        text,
        (
            _("Answer"),
            _("Number of most frequent answers included"),
            _("Share"),
            _("Lower bound (95%)"),
            _("Upper bound (95%)"),
        ),
        rows,
        lambda axes: kinds.lines(
            axes, ranks, series, x=_("Number of most frequent answers included"), y=_("Share of all answers")
        ),
    )


def _bounds(numbers: Numbers, title: str) -> Chart | None:
    """Draw the F1 of the super-annotator as a function of α, the least number of answers that it requires."""
    kept = results_by_kind(numbers.studies, "bounds")
    if not kept:
        return None
    first = next(iter(kept.values()))
    alphas = [str(alpha) for alpha in range(len(first["sweep"]))]
    series = [
        Series(str(numbers.parts.get(kind, kind)), [_known(share) for share in one["sweep"]])
        for kind, one in kept.items()
    ]
    text = " ".join(
        _("%(name)s: one annotator reaches an F1 of %(single).1f%%, the super-annotator %(super).1f%% (α = %(alpha)s).")
        % {
            "name": numbers.parts.get(kind, kind),
            "single": 100 * _known(one["single"]["f1"]),
            "super": 100 * _known(one["super"]["f1"]),
            "alpha": one["alpha"],
        }
        for kind, one in kept.items()
    )
    rows = [
        (str(numbers.parts.get(kind, kind)), alpha, *_row(share))
        for kind, one in kept.items()
        for alpha, share in zip(alphas, one["sweep"], strict=True)
    ]
    return Chart(
        "bounds",
        title,
        text,
        (_("Answer"), "α", "F1", _("Lower bound (95%)"), _("Upper bound (95%)")),
        rows,
        lambda axes: kinds.lines(axes, alphas, series, x=_("Answers required by the super-annotator (α)"), y="F1"),
    )


def _known(share: Mapping[str, Any]) -> float:
    return float(share["share"] or 0)


STUDIES: dict[str, Drawing] = {
    "paths": Drawing(gettext_lazy("How annotators decide"), _paths),
    "figure-4-passage": Drawing(
        gettext_lazy("Annotators who found a long answer, grouped by expert judgment"), partial(_figure_4, "passage")
    ),
    "figure-4-short": Drawing(
        gettext_lazy("Annotators who found a short answer, grouped by expert judgment"), partial(_figure_4, "short")
    ),
    "coverage": Drawing(gettext_lazy("Coverage by the most frequent answers"), _coverage),
    "bounds": Drawing(gettext_lazy("Human performance"), _bounds),
}
