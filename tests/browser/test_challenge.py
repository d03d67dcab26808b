"""A challenge in a browser: sealing a split, a leaderboard of it, teams and what they learn; every page of it."""

import re

import pytest
from django.conf import settings

from accounts.models import Role
from evaluation.boards.gold import gold_of
from evaluation.models import Board
from jobs.services import jobs_run_due
from tests import factories
from tests.axe import VARIANTS, assert_accessible
from tests.evaluation.challenge import Challenge, lines

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def done():
    while jobs_run_due():
        pass


def submit(page, system, content):
    """Submit a file and return the row of the page that says what became of it."""
    page.get_by_label("System").fill(system)
    page.set_input_files("input[type=file]", {"name": "p.jsonl", "mimeType": "text/plain", "buffer": content})
    page.get_by_role("button", name="Submit").click()
    page.locator("tr", has_text=system).wait_for()
    done()
    page.reload()
    return page.locator("tr", has_text=system).inner_text()


def test_a_split_is_sealed_and_a_challenge_is_run_on_it(open_browser):
    made = Challenge(sealed=False)
    base = f"/campaigns/{made.campaign.slug}/"
    manager, researcher = factories.user(), factories.user()
    factories.join(made.campaign, manager, Role.MANAGER)
    factories.join(made.campaign, researcher, Role.RESEARCHER)
    watched = open_browser(manager)
    page = watched.page
    watched.go(base + "releases/")
    page.locator("li", has_text="test").locator("summary", has_text="Seal").click()
    page.locator("li", has_text="test").get_by_role("button", name="Yes, seal").click()
    page.locator("li", has_text=re.compile("test.*Sealed", re.DOTALL)).wait_for()
    made.release()
    watched.go(base + "leaderboards/")
    page.get_by_label("Split").select_option("test")
    page.get_by_label("Metric").select_option("accuracy")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("heading", name="Accuracy: test").wait_for()
    board = Board.objects.latest("number")
    made.labels = gold_of(board)["labels"]

    watched = open_browser(researcher)
    page = watched.page
    watched.go(f"{base}boards/{board.number}/")
    page.get_by_label("Team", exact=True).fill("Harbour team")
    page.get_by_role("button", name="Join").click()
    page.get_by_role("heading", name="Your team's submissions").wait_for()
    assert "1.0000" in submit(page, "first system", lines(made.right(len(made.labels))))
    assert "not" in submit(page, "second system", lines(made.right(9))).lower()
    assert "line 1" in submit(page, "third system", b"{}\n")
    standing = page.locator("tr", has_text="your team").inner_text()
    assert re.search(r"1\.0000\s+3", standing), standing


@pytest.fixture
def challenge():
    """Return a challenge whose first release was closed by sealing, and a member of a team with a history."""
    made = Challenge(sealed=False)
    made.seal()
    made.board = made.make()
    made.labels = gold_of(made.board)["labels"]
    person = made.member("Harbour team")
    for content in (made.right(len(made.labels)), made.right(9), b"{}\n"):
        made.submit(person, content)
    return made, person


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_pages_of_a_challenge_are_accessible_and_clean(challenge, open_browser, language, view):
    made, member = challenge
    base = f"/campaigns/{made.campaign.slug}/"
    admin = factories.user(is_admin=True)
    item = made.test.items.first()
    pages = {
        admin: ["releases/", "releases/1/", "releases/2/", "leaderboards/", "leaderboards/1/", f"items/{item.pk}/"],
        member: ["releases/", "releases/1/", "leaderboards/", "leaderboards/2/"],
    }
    for person, paths in pages.items():
        watched = open_browser(person, **view)
        watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])
        for path in paths:
            watched.go(base + path)
            assert watched.page.get_attribute("html", "lang") == language
            for summary in watched.page.locator("main details > summary:visible").all():
                summary.click()
            assert_accessible(watched.page, f"{path} {language}")
