"""The navigation of a campaign's pages."""

from typing import Any

from django import template

from console.sections import Navigation, navigation_of

register = template.Library()


@register.simple_tag(takes_context=True)
def campaign_navigation(context: dict[str, Any]) -> Navigation:
    """Return the navigation of the campaign in the context, for the person who asks."""
    request = context["request"]
    return navigation_of(context["campaign"], request.campaign_actions, request.resolver_match.url_name)
