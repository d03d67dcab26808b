"""Template filters for amounts of money."""

from django import template

register = template.Library()


@register.filter
def dollars(cents: int | None) -> str:
    """Return an amount of cents as dollars."""
    return "–" if cents is None else f"${cents / 100:,.2f}"
