"""Template filters for rules."""

from django import template

from quality.models import WatchRule

register = template.Library()


@register.filter
def measure_name(collector: str) -> str:
    """Return the name of the quantity that a rule's collector measures."""
    return WatchRule(collector=collector).get_collector_display()
