"""Showing how long things take."""

from math import ceil

from django import template
from django.utils.translation import gettext as _

register = template.Library()


@register.filter
def about(seconds: float) -> str:
    """Return a remaining time, rounded up to a readable value; empty if there is none. As in ``progress.js``."""
    minutes = ceil(seconds / 60)
    if minutes < 1:
        return ""
    if minutes < 90:
        return _("about %(minutes)d min") % {"minutes": minutes}
    return _("about %(hours)d h") % {"hours": round(minutes / 60)}
