"""Template filters for shares."""

from django import template

register = template.Library()


@register.filter
def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent, without digits that are statistically meaningless."""
    return f"{100 * share:.{digits}f}%"


@register.filter
def stated_percent(share: float) -> str:
    """Return a share that a person stated, in percent and not rounded to fewer digits than they gave (up to six)."""
    return f"{100 * share:.6g}%"
