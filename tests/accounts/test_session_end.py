"""A session that ends in the middle of an item leads back to the item, with its draft."""

import pytest
from django.test import Client

from annotation.models import Assignment
from tests import factories

pytestmark = pytest.mark.django_db
HOST = "http://testserver"


@pytest.fixture
def work():
    """Return a client whose session has just ended, the page it was on, and the assignment in hand."""
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    live = factories.claim(campaign, person)
    client = Client()
    client.force_login(person)
    page = f"/work/{campaign.slug}/"
    client.get(page)
    del client.cookies["quorate_session"]
    return client, person, page, live


def test_a_form_sent_after_the_end_of_a_session_leads_back_to_its_page(work):
    client, person, page, live = work
    for address in (f"/assignments/{live.pk}/stage/", f"/assignments/{live.pk}/skip/", f"{page}undo/"):
        answer = client.post(address, {}, headers={"Referer": HOST + page})
        assert answer["Location"] == f"/account/login/?next={page.replace('/', '%2F')}"
    answer = client.post(answer["Location"], {"login": person.email, "password": "correct horse battery", "next": page})
    assert answer["Location"] == page
    assert str(live.pk) in client.get(page).content.decode()
    assert Assignment.objects.get(pk=live.pk).state == "live"


def test_a_piece_of_a_page_makes_the_whole_page_go_to_the_login(work):
    client, _, page, live = work
    headers = {"HX-Request": "true", "HX-Current-URL": HOST + page}
    for method, address in (("post", f"/assignments/{live.pk}/stage/"), ("get", f"{page}guidelines/")):
        answer = getattr(client, method)(address, headers=headers)
        assert (answer.status_code, answer["HX-Redirect"]) == (204, f"/account/login/?next={page.replace('/', '%2F')}")


def test_a_draft_that_cannot_be_kept_says_so_in_json(work):
    client, _, page, live = work
    headers = {"Accept": "application/json", "Referer": HOST + page}
    answer = client.post(f"/assignments/{live.pk}/draft/", {"version": "0"}, headers=headers)
    assert (answer.status_code, "logged out" in answer.json()["error"]) == (401, True)


@pytest.mark.parametrize("page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_only_pages_of_ours_are_led_back_to(work, page):
    client, _, _, live = work
    for headers in ({"Referer": page}, {"HX-Request": "true", "HX-Current-URL": page}):
        answer = client.post(f"/assignments/{live.pk}/stage/", headers=headers)
        assert "next=%2F" in (answer.headers.get("Location") or answer["HX-Redirect"])
        assert "evil" not in str(answer.headers)
        assert "javascript" not in str(answer.headers)
