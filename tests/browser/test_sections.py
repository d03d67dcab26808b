"""Every page of a campaign, reached as a manager reaches it: by its section, on a phone, a desktop and a wide screen."""

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.campaigns.services.numbers import numbers_refresh
from console.sections import SECTIONS
from quality.dashboard.services import quality_numbers_refresh
from tests import factories
from tests.axe import PHONE, assert_accessible
from tests.browser.test_pages import speak

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_CLICKS = 3  # from the campaign's home
WIDE = 60 * 16  # pixels from which on the pages of a section stand beside the content


@pytest.fixture
def campaign(now):
    """Return a campaign with answers, numbers and a boss who manages and judges."""
    made = factories.campaign(n=2, items=4)
    for _ in range(2):
        person = factories.annotator(made)
        for _ in range(3):
            factories.annotate(made, person, box=0, kind="yes")
    boss = factories.user("boss", is_admin=True)
    factories.waive(made, boss)
    for role in (Role.MANAGER, Role.EXPERT):
        factories.join(made, boss, role)
    numbers_refresh(campaign=made, now=now)
    quality_numbers_refresh(campaign=made, now=now)
    return made, boss


def open_page(page, section, name, width):
    """Go to a page by the links alone; return how many clicks it took."""
    if width < WIDE:
        page.click(".section-menu summary")
        page.locator(".section-menu").get_by_role("link", name=name, exact=True).last.click()
        return 2
    with page.expect_navigation():  # otherwise the pages of the section before are still there
        page.locator(".sections").get_by_role("link", name=section, exact=True).click()
    inside = page.locator(".section-pages").get_by_role("link", name=name, exact=True)
    if not inside.count() or inside.get_attribute("aria-current") == "page":
        return 1
    inside.click()
    return 2


@pytest.mark.parametrize(
    ("width", "language", "theme"),
    [
        (390, "en", "dark"),
        (390, "zh-hans", "light"),
        (1280, "en", "light"),
        (1280, "zh-hans", "dark"),
        (1920, "en", "dark"),
        (1920, "zh-hans", "light"),
    ],
)
def test_each_page_is_reached_by_its_section(campaign, open_browser, width, language, theme):
    from django.utils import translation

    made, boss = campaign
    view = PHONE if width < WIDE else {"viewport": {"width": width, "height": 900}}
    watched = open_browser(boss, color_scheme=theme, **view)
    speak(watched, language)
    page, seen = watched.page, set()
    home = reverse("campaign", args=[made.slug])
    pages = [(section, one) for section in SECTIONS for one in section.pages if one.applies(made)]
    assert len(pages) > 20
    for section, one in pages:
        address = reverse(one.url, args=[made.slug])
        with translation.override(language):
            names = str(section.label), str(one.label)
        watched.go(home)
        assert open_page(page, *names, width) <= MOST_CLICKS
        page.wait_for_url(f"**{address}")
        page.wait_for_load_state()
        assert page.get_attribute("html", "lang") == language
        assert_accessible(page, f"{address} {width} {language} {theme}")
        seen.add(address)
    assert len(seen) == len(pages)
    if width == 1920:  # the room is used
        assert page.locator("main").evaluate("element => element.clientWidth") > 1500
