"""Addresses of before lead to those of today."""

import pytest
from django.urls import Resolver404, resolve, reverse

from accounts.models import Role
from console.moved import MOVED, address_now
from tests import factories

# The addresses of pages in version 0.2.0 that have moved since, by the name of today's.
BEFORE = {
    "quality": "quality/",
    "quality-decisions": "decisions/",
    "quality-inspect": "inspect/",
    "campaign-documents": "pages/",
    "campaign-people": "people/",
    "quality-people": "quality/people/",
    "quality-workforces": "workforces/",
    "quality-behaviour": "quality/behaviour/",
    "quality-gold": "quality/gold/",
    "quality-experts": "quality/experts/",
    "quality-audits": "quality/audits/",
    "quality-target": "quality/target/",
    "quality-studies": "quality/studies/",
    "quality-studies-json": "quality/studies.json",
    "quality-study-design": "quality/studies/design/",
    "quality-policy": "quality/policy/",
    "quality-rules": "quality/rules/",
    "boards": "boards/",
    "campaign-log": "log/",
}
DETAILS = {
    "quality-chart-svg": (["pace"], "quality/charts/pace.svg"),
    "quality-gold-key": ([7], "quality/gold/7/"),
    "campaign-document": ([7], "pages/7/"),
    "board": ([2], "boards/2/"),
    "approvals": ([3], "workforces/3/approvals.csv"),
    "membership-revoke": ([3], "people/3/revoke/"),
    "quality-decide": (["ticket", 5], "decisions/ticket/5/"),
}


@pytest.mark.parametrize(
    ("name", "rest", "path"),
    [
        *((name, [], path) for name, path in BEFORE.items()),
        *((name, rest, path) for name, (rest, path) in DETAILS.items()),
    ],
)
def test_an_address_of_before_is_that_of_todays_page(name, rest, path):
    assert address_now(f"/campaigns/earth/{path}") == reverse(name, args=["earth", *rest])


def test_no_address_of_before_is_taken_by_another_page():
    for before, _now in MOVED:
        with pytest.raises(Resolver404):
            resolve(f"/campaigns/earth/{before}/")


def test_a_page_that_has_not_moved_has_one_address():
    for path in ("/campaigns/earth/", "/campaigns/earth/items/", "/campaigns/earth/qualityx/", "/work/earth/people/"):
        assert address_now(path) is None


@pytest.mark.django_db
def test_a_bookmark_still_opens_its_page_with_its_filter(client, campaign):
    manager = factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    answer = client.get(f"/campaigns/{campaign.slug}/quality/people/?sort=-submitted")
    assert (answer.status_code, answer["Location"]) == (308, f"/campaigns/{campaign.slug}/annotators/?sort=-submitted")
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.django_db
def test_what_was_never_there_is_not_there(client, campaign):
    client.force_login(factories.user(is_admin=True))
    assert client.get(f"/campaigns/{campaign.slug}/qualities/").status_code == 404
    gone = client.get(f"/campaigns/{campaign.slug}/quality/nothing%0ASet-Cookie:x/", follow=True)
    assert gone.status_code == 404 and "Set-Cookie" not in gone.headers
