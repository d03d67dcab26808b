"""Every page: accessible (axe), clean under the content security policy, desktop and phone, both languages."""

import pytest
from django.conf import settings

from accounts.services import invitation_create
from annotation.campaigns.services.numbers import numbers_refresh
from exports.services import release_request
from jobs.services import jobs_run_due
from tests import factories
from tests.axe import VARIANTS, assert_accessible

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(now):
    campaign = factories.campaign(n=2, items=6, content_warning="Some pages speak of storms.")
    people = [factories.annotator(campaign) for _ in range(2)]
    first = None
    for person, chosen in zip(people, [{"box": 0, "kind": "yes"}, {"label": "bad"}], strict=True):
        for _ in range(5):
            first = factories.annotate(campaign, person, **chosen)
    factories.import_questions(campaign, ["pilot question"], pilot=True)
    factories.launch(campaign)
    numbers_refresh(campaign=campaign, now=now)
    admin = factories.user("admin", is_admin=True)
    release_request(
        campaign=campaign,
        family="nq-original",
        ways=1,
        splits=[],
        seed=0,
        shards=1,
        actor_id=admin.surrogate_id,
        now=now,
    )
    while jobs_run_due():
        pass
    token = invitation_create(
        scope_id=campaign.pk, role="annotator", uses=2, days=3, note="course", actor_id=admin.surrogate_id, now=now
    )
    return campaign, people, admin, first, token


def speak(watched, language):
    watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_managers_pages(world, open_browser, language, view):
    """Those that no section holds; `test_sections.py` has the others."""
    campaign, _, admin, annotation, _ = world
    watched = open_browser(admin, **view)
    speak(watched, language)
    base = f"/campaigns/{campaign.slug}/"
    paths = [
        "/",
        "/campaigns/new/",
        base + f"documents/{campaign.documents.get().pk}/",
        base + f"items/{annotation.item_id}/",
        base + "members/",
        base + "releases/1/",
        "/account/privacy/",
        "/styleguide/",
        f"/work/{campaign.slug}/guidelines/",
        "/nowhere/",
        "/account/password/change/",
        "/account/email/",
        "/account/2fa/",
        "/tokens/",
        "/api/v1/",
    ]
    for path in paths:
        watched.go(path)
        assert watched.page.get_attribute("html", "lang") == language
        assert_accessible(watched.page, f"{path} {language}")
    for name in ("campaign_new", "item_import", "gold_change"):  # the reference, with operations open
        watched.page.evaluate("id => document.getElementById(id).open = true", name)
    assert_accessible(watched.page, f"open operations {language}")
    watched.go(base + "members/")
    watched.page.click("main form button.primary")
    assert_accessible(watched.page, "a fresh invitation")


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_pages_of_a_visitor(world, open_browser, language, view):
    *_, token = world
    watched = open_browser(**view)
    speak(watched, language)
    for path in ["/account/login/", "/account/password/reset/", f"/invite/{token}/", "/account/signup/"]:
        watched.go(path)
        assert_accessible(watched.page, f"{path} {language}")


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_annotators_pages(world, open_browser, language, view):
    campaign, _, _, _, _ = world
    newcomer = factories.user()
    factories.join(campaign, newcomer)
    watched = open_browser(newcomer, **view)
    speak(watched, language)
    page = watched.page
    watched.go("/")
    assert_accessible(page, "home")
    watched.go(f"/work/{campaign.slug}/leave/")
    assert_accessible(page, "leave")
    watched.go(f"/work/{campaign.slug}/")
    assert_accessible(page, "start")
    page.click("[data-key=Enter]")
    page.wait_for_url("**/consent/")
    assert_accessible(page, "consent")
    page.click("main form button.primary")
    page.wait_for_selector("[data-stage=question]")
    page.wait_for_load_state()
    assert_accessible(page, "question")
    for opener, dialog in (
        ("[data-open=help]", "help"),
        ("[data-open=guidelines]", "guidelines"),
        ("[data-open=skip]", "skip"),
        ("[data-open=report]", "report"),
    ):
        if page.locator(opener).first.is_visible():
            page.locator(opener).first.click()
            page.wait_for_selector(f"#{dialog}[open]")
            assert_accessible(page, dialog)
            page.keyboard.press("Escape")
    page.click("button[name=label][value=good]")
    page.wait_for_selector("[data-stage=long_answer]")
    page.locator("[data-document] [data-box]").first.click()
    assert_accessible(page, "long answer")
    page.locator("[data-choose] button").click()
    page.wait_for_selector("[data-stage=short_answer]")
    page.locator("[data-token]").nth(1).click()
    page.locator("[data-token]").nth(2).click()
    assert page.locator("[data-spans] li").count() == 1
    assert_accessible(page, "short answer")
    page.click("[data-submit]")
    page.wait_for_selector("h1:has-text('All done'), [data-stage=question], .done-page")
    assert_accessible(page, "after submission")
    watched.go(f"/work/{campaign.slug}/recent/")
    assert page.locator("main li.card").count() == 1
    assert_accessible(page, "recent answers")
    watched.go(f"/work/{campaign.slug}/questions/")
    assert_accessible(page, "own questions")


def test_dark_mode_keeps_its_contrast(world, open_browser):
    campaign, people, admin, _, _ = world
    watched = open_browser(admin, color_scheme="dark")
    for path in ["/", f"/campaigns/{campaign.slug}/", "/styleguide/"]:
        watched.go(path)
        assert_accessible(watched.page, f"{path} dark")
