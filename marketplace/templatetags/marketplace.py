"""Template filters for durations."""

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

register = template.Library()


@register.filter
def duration(seconds: int | None) -> str:
    """Return a time span in its largest fitting unit: 45 min, 2 h, 30 days."""
    value = int(seconds or 0)
    if value < 60:
        return _("%(count)s s") % {"count": value}
    if value < 2 * 3600 and value % 3600:
        return _("%(count)s min") % {"count": round(value / 60)}
    if value < 48 * 3600:
        return _("%(count)s h") % {"count": f"{value / 3600:.1f}".removesuffix(".0")}
    days = round(value / 86_400)
    return ngettext("%(count)d day", "%(count)d days", days) % {"count": days}
