"""The navigation of a campaign's pages."""

from typing import Any

from django import template
from django.utils import timezone

from console.launch_checklist import Step, launch_checklist
from console.sections import Navigation, navigation_of
from console.selectors import CampaignCard, campaign_cards

register = template.Library()


@register.simple_tag(takes_context=True)
def campaign_navigation(context: dict[str, Any]) -> Navigation:
    """Return the navigation of the campaign in the context, for the person who asks."""
    request = context["request"]
    return navigation_of(context["campaign"], request.campaign_actions, request.resolver_match.url_name)


@register.simple_tag(takes_context=True)
def campaign_launch_checklist(context: dict[str, Any]) -> list[Step]:
    """Return what the campaign in the context has and lacks before a launch."""
    return launch_checklist(context["campaign"])


@register.simple_tag(takes_context=True)
def campaign_card(context: dict[str, Any]) -> CampaignCard:
    """Return the numbers of the campaign in the context as home shows them."""
    return campaign_cards([context["campaign"]], timezone.now())[0]
