"""What the desk notes of input that no device made, and of what is pasted; its own clicks are not among it."""

import pytest
from django.urls import reverse

from annotation.models import EventTally
from tests import factories
from tests.axe import assert_accessible

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def answered(page, how):
    """Answer one item and wait until the next one is there."""
    page.locator("[data-stage=relevance]").wait_for()
    page.wait_for_load_state()
    before = page.get_attribute("[data-stage]", "data-assignment")
    how(page)
    page.locator(f"[data-stage=relevance]:not([data-assignment='{before}'])").wait_for()


def test_keys_and_clicks_of_a_person_are_no_signal_and_those_of_a_program_are(open_browser):
    campaign = factories.antique(items=6, n=1)
    campaign.scope.consent_texts.update(tells_behaviour=True)
    watched = open_browser(factories.annotator(campaign))
    page = watched.page
    watched.go(reverse("work", args=[campaign.slug]))
    page.get_by_role("button", name="Start").click()
    answered(page, lambda page: page.keyboard.press("4"))
    for step in ("y", "n"):  # the flowchart, by its keys
        page.keyboard.press(step)
    answered(page, lambda page: page.keyboard.press("3"))
    answered(page, lambda page: page.locator("[data-key='2']").click())
    assert not EventTally.objects.exists()
    answered(page, lambda page: page.evaluate("document.querySelector(\"[data-key='1']\").click()"))
    page.evaluate(
        "document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: (() => { const data = new DataTransfer();"
        " data.setData('text', 'twelve signs'); return data; })()}))"
    )
    page.goto("about:blank")  # what was noted is sent when the page goes
    for _ in range(50):
        tallies = sorted(EventTally.objects.values_list("untrusted", "pastes", "pasted"))  # they arrive in either order
        if len(tallies) == 2:
            break
        page.wait_for_timeout(100)
    assert tallies == [(0, 1, 12), (1, 0, 0)]


@pytest.mark.parametrize("view", [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}])
def test_the_page_of_signals_is_accessible(open_browser, view, watched):
    campaign, _people, boss = watched
    browser = open_browser(boss, **view)
    browser.go(reverse("quality-behaviour", args=[campaign.slug]))
    factories.run_jobs()
    browser.go(reverse("quality-behaviour", args=[campaign.slug]))
    browser.page.get_by_text("Reliability of the signals").wait_for()
    assert_accessible(browser.page, "behaviour")


@pytest.fixture
def watched():
    """Return a campaign with one answer."""
    campaign = factories.antique(items=2, n=2)
    campaign.scope.consent_texts.update(tells_behaviour=True)
    person, boss = factories.annotator(campaign), factories.user()
    factories.vote(campaign, person, 4)
    factories.join(campaign, boss, "manager")
    return campaign, [person], boss
