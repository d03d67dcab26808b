"""The chart of a target: the share of wrong labels as a function of the money spent."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from measures.charts import kinds
from measures.charts.kinds import Level
from measures.charts.svg import Chart
from quality.dashboard.charts.drawings import Drawing, Numbers


def _error_against_dollars(numbers: Numbers, title: str) -> Chart | None:
    found = numbers.target
    if not found.get("forecast"):
        return None
    done = [(wave["spent_before"] / 100, wave["predicted"]) for wave in found["waves"]]
    done.append((found["spent_cents"] / 100, found["predicted"]))
    to_come = [(cents / 100, share) for cents, share in found["forecast"]]
    text = _(
        "Predicted label error: %(now).1f%% now, %(last).1f%% after spending $%(dollars).2f. Target: %(error).1f%%."
    ) % {
        "now": 100 * found["predicted"],
        "last": 100 * to_come[-1][1],
        "dollars": to_come[-1][0],
        "error": 100 * found["error"],
    }
    rows = [(_("so far"), f"{dollars:.2f}", round(share, 4)) for dollars, share in done]
    rows += [(_("forecast"), f"{dollars:.2f}", round(share, 4)) for dollars, share in to_come]
    level = Level(found["error"], _("target: %(error).1f%%") % {"error": 100 * found["error"]})
    return Chart(
        "target",
        title,
        text,
        (_("What"), _("Cost of extra votes ($)"), _("Share of wrong labels")),
        rows,
        lambda axes: kinds.path_to_level(
            axes, done, to_come, level, x=_("Cost of extra votes ($)"), y=_("Predicted label error")
        ),
    )


TARGET = {"target": Drawing(gettext_lazy("Predicted label error by cost"), _error_against_dollars)}
