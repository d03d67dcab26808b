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


@register.filter
def points(difference: float) -> str:
    """Return a difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> points(-0.8), points(0.05)
    ('\N{MINUS SIGN}80.0', '+5.0')
    """
    return f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")
