"""Template filters for shares."""

from django import template

register = template.Library()


@register.filter
def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent, without digits that are statistically meaningless."""
    return f"{100 * share:.{digits}f}%"
