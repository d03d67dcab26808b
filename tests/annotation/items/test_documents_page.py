"""The pages of a campaign as its managers see them before annotators do."""

import pytest
from django.test import Client

from accounts.models import Role
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def managed():
    campaign = factories.campaign()
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    return campaign, client


def test_a_page_is_shown_with_its_boxes_and_without_what_is_active(managed):
    campaign, client = managed
    factories.import_page(
        campaign, "<p>One <b>box</b> of words.</p><ul><li>Two</li></ul><script>alert(1)</script>", "a.html"
    )
    found = campaign.documents.get(name="a.html")
    page = client.get(f"/campaigns/{campaign.slug}/documents/{found.pk}/").content.decode()
    assert "One box of words ." in page
    assert "<code>&lt;P&gt;</code>" in page and "<code>&lt;Ul&gt;</code>" in page
    assert "alert(1)" not in page
    assert "almost no text" in page
    assert "This page has no paragraph" not in page


def test_a_page_without_a_box_says_so(managed):
    campaign, client = managed
    factories.import_page(campaign, "<div>Nothing to choose.</div>", "b.html")
    found = campaign.documents.get(name="b.html")
    assert (
        "This page has no paragraph" in client.get(f"/campaigns/{campaign.slug}/documents/{found.pk}/").content.decode()
    )


def test_pages_are_listed_and_those_of_another_campaign_are_not_there(managed):
    campaign, client = managed
    other = factories.campaign()
    factories.import_page(other, "<p>Elsewhere.</p>", "secret.html")
    listed = client.get(f"/campaigns/{campaign.slug}/documents/").content.decode()
    assert "harbour.html" in listed and "secret.html" not in listed
    stranger = other.documents.get(name="secret.html")
    assert client.get(f"/campaigns/{campaign.slug}/documents/{stranger.pk}/").status_code == 404
