"""What a plan's numbers are called, and how they are written."""

from collections.abc import Mapping
from typing import Any

TITLES = {
    "cents": "cost", "days": "days", "label_error": "labels that will be wrong", "no_majority": "without a majority, first round",
    "expert_cases": "items for experts", "expert_hours": "hours of experts", "inspection_hours": "hours of inspection",
    "alpha": "alpha", "alpha_width": "width of alpha's interval", "judgments": "judgments",
    "excluded": "of them by people suspended later", "suspended": "people suspended", "gold_checks": "gold checks",
    "gold_keys": "gold keys needed", "cents_an_hour": "pay an hour",
}  # fmt: skip
_DOLLARS = ("cents", "cents_an_hour")
_SHARES = ("label_error", "no_majority")
_FINE = ("alpha", "alpha_width")


def written(name: str, value: float) -> str:
    """Return a number as people read it."""
    if name in _DOLLARS:
        return f"${value / 100:,.2f}" if value < 100_000 else f"${value / 100:,.0f}"
    if name in _SHARES:
        return f"{100 * value:.1f} %"
    if name in _FINE:
        return f"{value:.2f}"
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"


def span(name: str, numbers: Mapping[str, Any]) -> str:
    """Return a number with its bounds; alone where they are the same."""
    value, low, high = (written(name, numbers[key]) for key in ("value", "low", "high"))
    return value if low == high else f"{value} ({low} to {high})"
