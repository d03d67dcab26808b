"""Naming what rules measure."""

from django import template

from quality.models import WatchRule

register = template.Library()


@register.filter
def measure_name(collector: str) -> str:
    """Return what a rule's collector measures, in words."""
    return WatchRule(collector=collector).get_collector_display()
