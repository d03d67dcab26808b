"""Showing shares."""

from django import template

register = template.Library()


@register.filter
def percent(share: float, digits: int = 0) -> str:
    """Return a share as per cent, without digits that chance decides."""
    return f"{100 * share:.{digits}f}%"
