"""The six sections: every page is in one, each role sees what it may open, and a page that doesn't apply isn't there."""

import re

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from accounts.models import Role
from accounts.permissions import Action
from accounts.services import membership_grant
from console.sections import SECTIONS, navigation_of
from tests import factories

pytestmark = pytest.mark.django_db
MANAGER = frozenset(Action) - {Action.ANNOTATE, Action.JUDGE, Action.UNSEAL}


def labels(campaign, actions, current="campaign"):
    found = navigation_of(campaign, actions, current)
    return {str(section.label): [str(page.label) for page in section.pages] for section in found.sections}


def test_a_manager_has_six_sections_of_at_most_six_pages(campaign):
    found = labels(campaign, MANAGER)
    assert list(found) == ["Overview", "Items", "People", "Quality", "Releases", "Settings"]
    assert max(map(len, found.values())) <= 6
    pages = [page for own in found.values() for page in own]
    assert len(pages) == len(set(pages))


def test_a_role_sees_only_what_it_may_open(campaign):
    expert = labels(campaign, {Action.SEE_CAMPAIGN, Action.JUDGE})
    assert expert == {"Overview": ["Overview", "Cases"]}
    researcher = labels(campaign, {Action.SEE_CAMPAIGN, Action.SEE_ITEMS, Action.SEE_RELEASES, Action.RELEASE})
    assert list(researcher) == ["Overview", "Items", "Quality", "Releases"]
    assert researcher["Quality"] == ["Studies"]


def test_what_does_not_apply_to_a_task_type_is_not_there(campaign):
    assert "Documents" in labels(campaign, MANAGER)["Items"]
    pairs = labels(factories.antique(items=1, n=1), MANAGER)
    assert "Documents" not in pairs["Items"]
    assert {"Label audits", "Error target"} <= set(pairs["Quality"]) and "Plan" in pairs["Settings"]
    questions = labels(campaign, MANAGER)  # without votes
    assert not {"Label audits", "Error target"} & set(questions["Quality"]) and "Plan" not in questions["Settings"]


def test_each_page_opens_and_says_where_it_stands(campaign):
    user = factories.user("manager")
    membership_grant(user=user, scope_id=campaign.pk, role=Role.MANAGER, actor_id=None, now=campaign.created_at)
    client = Client()
    client.force_login(user)
    for section in SECTIONS:
        for page in section.pages:
            if page.action not in MANAGER or not page.applies(campaign):
                continue
            address = reverse(page.url, args=[campaign.slug])
            html = client.get(address).content.decode()
            nav = re.search(r'<nav class="sections".*?</nav>', html, re.DOTALL)[0]
            assert re.findall(r'aria-current="true">([^<]+)<', nav) == [str(section.label)]
            here = re.search(r'<nav class="section-pages".*?</nav>', html, re.DOTALL)[0]
            assert re.findall(r'href="([^"]+)" aria-current="page"', here) == [address]
            assert f'<a href="{address}" aria-current="page">{page.label}</a>' in html


def test_a_part_of_a_page_is_shown_under_that_page(campaign):
    here = navigation_of(campaign, MANAGER, "quality-gold-key").section
    assert (str(here.label), str(here.current.label), here.current.current) == ("Quality", "Gold questions", "true")


# Addresses below a campaign that answer with a file, a fragment or a page for annotators.
NO_PAGE = {
    "quality-chart",
    "quality-chart-svg",
    "quality-chart-csv",
    "quality-studies-json",
    "release-all",
    "release-file",
}
NO_PAGE |= {"approvals", "quality-standing", "campaign-by-id"}


def test_every_address_below_a_campaign_belongs_to_a_page():
    known = [name for section in SECTIONS for page in section.pages for name in (page.url, *page.parts)]
    assert len(known) == len(set(known))
    below = {name for name, route in routes(get_resolver()) if route.startswith("campaigns/<slug:slug>/")}
    assert set(known) == below - NO_PAGE


def routes(resolver, before=""):
    """Yield name and route of each view below a resolver."""
    for one in resolver.url_patterns:
        route = f"{before}{one.pattern}"
        if hasattr(one, "url_patterns"):
            yield from routes(one, route)
        else:
            yield one.name, route
