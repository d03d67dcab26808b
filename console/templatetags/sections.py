"""The navigation of a campaign's pages."""

from typing import Any

from django import template
from django.utils import timezone

from console.launch_checklist import Step, launch_checklist
from console.sections import Navigation, navigation_of
from console.selectors import ReviewedElsewhere, reviewed_elsewhere

register = template.Library()


@register.simple_tag(takes_context=True)
def campaign_navigation(context: dict[str, Any]) -> Navigation:
    """Return the navigation of the campaign in the context, for the logged-in person."""
    request = context["request"]
    return navigation_of(context["campaign"], request.campaign_actions, request.resolver_match.url_name)


@register.simple_tag(takes_context=True)
def campaign_launch_checklist(context: dict[str, Any]) -> list[Step]:
    """Return the launch checklist of the campaign in the context."""
    return launch_checklist(context["campaign"])


@register.simple_tag(takes_context=True)
def campaign_reviewed_elsewhere(context: dict[str, Any]) -> ReviewedElsewhere:
    """Return the decisions that wait on other pages than the queue, for the campaign in the context."""
    return reviewed_elsewhere(context["campaign"], timezone.now())
