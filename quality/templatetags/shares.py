"""Showing shares."""

from django import template

register = template.Library()


@register.filter
def percent(share: float) -> str:
    """Return a share as per cent, without digits that chance decides."""
    return f"{100 * share:.0f} %"
