"""The names of a plan's numbers, and their format."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

TITLES = {
    "cents": _("cost"),
    "days": _("days"),
    "label_error": _("wrong labels"),
    "no_majority": _("items without a majority (first round)"),
    "expert_cases": _("items sent to experts"),
    "expert_hours": _("expert hours"),
    "inspection_hours": _("hours spent on spot checks"),
    "alpha": _("Krippendorff's alpha"),
    "alpha_width": _("width of alpha's confidence interval"),
    "judgments": _("judgments"),
    "excluded": _("judgments by annotators suspended later"),
    "suspended": _("suspended annotators"),
    "gold_checks": _("gold checks"),
    "gold_keys": _("gold questions needed"),
    "cents_an_hour": _("pay per hour"),
}
_DOLLARS = ("cents", "cents_an_hour")
_SHARES = ("label_error", "no_majority")
_FINE = ("alpha", "alpha_width")
_TIMES = ("days", "expert_hours", "inspection_hours")


def written(name: str, value: float) -> str:
    """Return a number as people read it."""
    if name in _DOLLARS:
        return f"${value / 100:,.2f}" if value < 100_000 else f"${value / 100:,.0f}"
    if name in _SHARES:
        return f"{100 * value:.1f}%"
    if name in _FINE:
        return f"{value:.2f}"
    is_whole = value >= 10 or (name not in _TIMES and value == int(value))
    return f"{value:,.0f}" if is_whole else f"{value:,.1f}"


def span(name: str, numbers: Mapping[str, Any]) -> str:
    """Return a number with its bounds; without them if they are the same."""
    value, low, high = (written(name, numbers[key]) for key in ("value", "low", "high"))
    return value if low == high else f"{value} ({low} to {high})"
