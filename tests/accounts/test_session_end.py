"""A session that ends in the middle of an item leads back to the item, with its draft."""

import re

import pytest
from django.test import Client
from django.utils.html import escape

from annotation.models import Assignment, Guideline
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


def test_a_form_sent_after_the_end_of_a_session_is_given_back_with_a_way_to_its_page(work):
    client, person, page, live = work
    for address in (f"/assignments/{live.pk}/stage/", f"/assignments/{live.pk}/skip/", f"{page}undo/"):
        answer = client.post(address, {"note": "the words that I typed"}, headers={"Referer": HOST + page})
        text = answer.content.decode()
        assert (answer.status_code, answer["X-Session"]) == (401, "out")
        assert f'action="{address}"' in text and 'value="the words that I typed"' in text
        login = f"/account/login/?next={page.replace('/', '%2F')}"
        assert f'href="{login}"' in text
    answer = client.post(login, {"login": person.email, "password": "correct horse battery", "next": page})
    assert answer["Location"] == page
    assert str(live.pk) in client.get(page).content.decode()
    assert Assignment.objects.get(pk=live.pk).state == "live"


def test_a_piece_of_a_page_makes_the_whole_page_go_to_the_login_and_what_is_sent_stays_where_it_is(work):
    client, _, page, live = work
    headers = {"HX-Request": "true", "HX-Current-URL": HOST + page}
    answer = client.get(f"{page}guidelines/", headers=headers)
    assert (answer.status_code, answer["HX-Redirect"]) == (204, f"/account/login/?next={page.replace('/', '%2F')}")
    answer = client.post(f"/assignments/{live.pk}/stage/", headers=headers)
    assert (answer.status_code, answer["X-Session"], "HX-Redirect" in answer) == (401, "out", False)
    assert answer["Content-Type"].startswith("text/plain")


def test_a_draft_that_cannot_be_kept_says_so_in_json(work):
    client, _, page, live = work
    headers = {"Accept": "application/json", "Referer": HOST + page}
    answer = client.post(f"/assignments/{live.pk}/draft/", {"version": "0"}, headers=headers)
    assert (answer.status_code, "logged out" in answer.json()["error"]) == (401, True)


@pytest.mark.parametrize("page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_only_pages_of_ours_are_led_back_to(work, page):
    client, _, _, live = work
    answer = client.post(f"/assignments/{live.pk}/stage/", {"note": "x"}, headers={"Referer": page})
    assert b"next=%2F" in answer.content and b"evil" not in answer.content and b"javascript:" not in answer.content
    answer = client.get(f"/assignments/{live.pk}/stage/", headers={"HX-Request": "true", "HX-Current-URL": page})
    assert "next=%2F" in answer["HX-Redirect"]
    assert "evil" not in str(answer.headers) and "javascript" not in str(answer.headers)


@pytest.fixture
def strict():
    """Return a client of a manager whose pages were opened before they logged in again, and the address of a form."""
    campaign, manager = factories.campaign(), factories.user()
    factories.join(campaign, manager, "manager")
    client = Client(enforce_csrf_checks=True)
    client.force_login(manager)
    return client, f"/campaigns/{campaign.slug}/guidelines/"


def test_a_form_with_an_old_token_is_given_back_and_one_press_sends_it(strict):
    client, address = strict
    text = 'Count "every" <harbour>.\n' + "And so on. " * 20
    answer = client.post(
        address,
        {"body": text, "note": "typo", "csrfmiddlewaretoken": "x" * 64},
        headers={"Origin": HOST, "Sec-Fetch-Site": "same-origin"},
    )
    page = answer.content.decode()
    assert (answer.status_code, answer["X-Session"]) == (403, "token")
    assert escape(text) in page and '<input type="hidden" name="note" value="typo">' in page and "x" * 64 not in page
    [token] = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page))
    answer = client.post(
        address, {"body": text, "note": "typo", "csrfmiddlewaretoken": token}, headers={"Referer": HOST + address}
    )
    assert answer.status_code == 302
    assert Guideline.objects.latest("version").body.split() == text.split()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Referer": "https://evil.example/x"},
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": HOST, "Sec-Fetch-Site": "cross-site"},
        {"Origin": HOST, "Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_what_another_site_sent_is_never_offered_for_sending(strict, headers):
    client, address = strict
    answer = client.post(address, {"body": "what that site wants"}, headers=headers)
    assert answer.status_code == 403
    assert b"what that site wants" not in answer.content and b"Send again" not in answer.content


def test_passwords_are_never_given_back():
    client = Client(enforce_csrf_checks=True)
    sent = {"login": "a@example.org", "password": "correct horse battery"}
    for address in ("/account/login/", "/campaigns/x/guidelines/"):
        answer = client.post(address, sent, headers={"Origin": HOST, "Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 401 and b"correct horse" not in answer.content


def test_a_page_is_told_who_is_logged_in_and_nothing_else(strict):
    client, address = strict
    said = client.get("/session/")
    assert set(said.json()) == {"person", "token"} and "no-store" in said["Cache-Control"]
    assert f'data-person="{said.json()["person"]}"' in client.get(address).content.decode()
    assert (
        client.post(address, {"body": "b", "note": "n"}, headers={"X-CSRFToken": said.json()["token"]}).status_code
        == 302
    )
    other = Client()
    assert other.get("/session/").json()["person"] == ""
    other.force_login(factories.user())
    assert other.get("/session/").json()["person"] not in ("", said.json()["person"])
