"""The manager's side by hand: tables, questions, a second press, a new campaign; on phones, by keyboard, in Chinese."""

import csv

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import FaqEntry, ItemReport
from quality.dashboard.services import quality_numbers_refresh
from tests import factories
from tests.axe import DESKTOP, PHONE, assert_accessible

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def managed():
    """Return a campaign with six items, two people who answered, and its manager."""
    campaign = factories.antique(items=6, n=2)
    manager = factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    for name in ("Ada", "Grace"):
        person = factories.annotator(campaign, name)
        for label in (3, 4, 2):
            factories.vote(campaign, person, label)
    numbers_refresh(campaign=campaign, now=timezone.now())
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    return campaign, manager


def speak(watched, language):
    watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])


@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_table_is_sorted_cut_ticked_and_acted_on_by_keyboard(managed, open_browser, view):
    campaign, manager = managed
    watched = open_browser(manager, **view)
    speak(watched, "zh-hans")
    page = watched.page
    watched.go(f"/campaigns/{campaign.slug}/items/")
    names = campaign.items.order_by("-external_id").values_list("external_id", flat=True)
    for _ in range(2):  # upwards, then downwards
        page.locator("th a").first.focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=descending]").count() == 1
    assert page.locator("tbody a").first.inner_text() == names[0]
    page.locator(".chooser > summary").focus()
    page.keyboard.press("Enter")
    page.locator("[name=columns][value=question]").focus()
    page.keyboard.press("Space")
    page.locator(".chooser button").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("th[aria-sort=descending]").count() == 1  # it stays sorted
    assert page.locator("tbody tr").first.locator("td").count() == page.locator("thead th").count()
    page.locator("input[name=row]").nth(0).focus()
    page.keyboard.press("Space")
    page.locator("input[name=row]").nth(2).click(modifiers=["Shift"])
    assert page.locator("input[name=row]:checked").count() == 3
    assert "3" in page.inner_text("[data-ticked]")
    assert page.evaluate("document.querySelector('[data-all]').indeterminate")
    retire = page.locator(".section-body .confirm:has([name=reason-retire])")
    retire.locator("summary").focus()
    page.keyboard.press("Enter")
    assert_accessible(page, "a second press")
    page.locator("[name=reason-retire]").fill("太长")
    retire.locator("button").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".callout")
    assert campaign.items.filter(state="retired", retired_reason="太长").count() == 3
    assert set(campaign.items.filter(state="retired").values_list("external_id", flat=True)) == set(names[:3])


def test_a_table_is_saved_as_it_is_seen(managed, open_browser):
    campaign, manager = managed
    watched = open_browser(manager)
    page = watched.page
    watched.go(f"/campaigns/{campaign.slug}/annotators/?sort=-submitted")
    with page.expect_download() as download:
        page.get_by_text("Save as CSV").click()
    with open(download.value.path(), encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [row["person"] for row in rows] == page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert {row["submitted"] for row in rows} == {"3"}
    page.locator("[data-all]").check()
    assert page.locator("input[name=row]:checked").count() == 2


@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_question_goes_to_the_manager_and_its_answer_comes_back(open_browser, view):
    campaign = factories.campaign(items=2)
    manager, person = factories.user(), factories.annotator(campaign)
    factories.join(campaign, manager, Role.MANAGER)
    asking = open_browser(person, **view)
    speak(asking, "zh-hans")
    asking.go(f"/work/{campaign.slug}/")
    asking.page.keyboard.press("Enter")
    asking.page.wait_for_selector("[data-stage=question]")
    asking.page.wait_for_load_state()
    asking.page.keyboard.press("r")
    asking.page.keyboard.type("目录算答案吗？")
    asking.page.keyboard.press("Tab")
    asking.page.keyboard.press("Enter")
    asking.page.wait_for_selector("#report .callout.good")
    assert_accessible(asking.page, "asked")
    asking.page.keyboard.press("Escape")
    asking.page.keyboard.press("2")
    asking.page.wait_for_selector("[data-stage=question]")
    answering = open_browser(manager, **view)
    page = answering.page
    answering.go(f"/campaigns/{campaign.slug}/questions/")
    report = ItemReport.objects.get()
    assert report.text == "目录算答案吗？"
    page.fill(f"#answer-{report.pk}", "不算。<b>only</b> its sections")
    page.check(f"#publish-{report.pk}")
    page.fill(f"#question-{report.pk}", "Does a table of contents count?")
    page.get_by_role("button", name="Answer", exact=True).click()
    page.wait_for_selector(".callout")
    assert FaqEntry.objects.get().question == "Does a table of contents count?"
    asking.go(f"/work/{campaign.slug}/")
    asking.page.click("a.answers")
    asking.page.wait_for_url("**/questions/")
    assert "<b>only</b>" in asking.page.inner_text("main")  # as text
    asking.go(f"/work/{campaign.slug}/")
    assert asking.page.locator("a.answers").count() == 0
    asking.page.wait_for_load_state()
    asking.page.keyboard.press("g")
    asking.page.wait_for_selector("#guidelines .faq")
    assert_accessible(asking.page, "guidelines with answers")


@pytest.mark.parametrize("view", [{**DESKTOP, "color_scheme": "dark"}, PHONE], ids=["desktop-dark", "phone"])
def test_a_new_campaign_is_previewed_while_its_form_is_filled_in(open_browser, view):
    watched = open_browser(factories.user(is_admin=True), **view)
    speak(watched, "zh-hans")
    page = watched.page
    watched.go("/campaigns/new/")
    page.wait_for_selector(".preview")
    page.fill("[name=title]", "Lighthouses")
    page.fill("[name=splits]", "all 3 1")
    page.fill("[name=items]", "100")
    page.fill("[name=seconds]", "36")
    page.fill("[name=pay_an_hour]", "20")
    page.fill("[name=purpose]", "了解灯塔")
    page.fill("[name=contact]", "Ada")
    page.wait_for_selector("aside:has-text('$60.00')")
    page.wait_for_selector(".preview:has-text('了解灯塔')")
    assert_accessible(page, "a preview")
    page.get_by_role("button", name="创建").click()
    page.wait_for_url("**/campaigns/lighthouses/import/")


@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_closing_says_what_happens_and_takes_a_second_press(managed, open_browser, view):
    campaign, manager = managed
    watched = open_browser(manager, **view)
    page = watched.page
    watched.go(f"/campaigns/{campaign.slug}/")
    page.locator(".confirm > summary").focus()
    page.keyboard.press("Enter")
    assert "6 annotations are open" in page.inner_text("#close-says")
    assert_accessible(page, "before closing")
    factories.vote(campaign, factories.annotator(campaign), 3)
    numbers_refresh(campaign=campaign, now=timezone.now())
    page.wait_for_selector("#close-says:has-text('5 annotations are open')")  # it keeps itself right while it is read
    page.locator(".confirm button").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".tag:has-text('Closed')")


def test_a_slash_leads_to_the_search_but_can_be_typed(managed, open_browser):
    campaign, manager = managed
    watched = open_browser(manager, **DESKTOP)
    page = watched.page
    watched.go(f"/campaigns/{campaign.slug}/items/")
    page.keyboard.press("/")
    page.keyboard.type("and/or gold q")
    assert page.input_value("#search") == "and/or gold q"
    page.fill("#search", "gold q")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=gold+q")
    assert_accessible(page, "search results")
    page.keyboard.press("Control+k")
    assert page.evaluate("document.activeElement.id") == "search"
    page.get_by_role("main").get_by_role("link", name="Gold questions").last.click()
    page.wait_for_url("**/gold/")


def test_the_style_guide_shows_both_themes_at_once(open_browser):
    watched = open_browser(factories.user(), color_scheme="dark", **PHONE)
    watched.go("/styleguide/")
    looks = watched.page.eval_on_selector_all(".theme", "all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(set(looks)) == 2
    assert_accessible(watched.page, "both themes")


@pytest.mark.parametrize("view", [{**DESKTOP, "color_scheme": "dark"}, PHONE], ids=["desktop-dark", "phone"])
def test_a_pilot_is_drawn_read_and_its_guidelines_start_the_campaign(open_browser, view):
    campaign = factories.campaign(n=1)
    factories.import_questions(campaign, [f"question {number} about the harbour" for number in range(6)])
    manager = factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    watched = open_browser(manager, **view)
    page = watched.page
    watched.go(f"/campaigns/{campaign.slug}/pilot/")
    page.fill("[name=items]", "2")
    page.get_by_role("button", name="Draw items", exact=True).click()
    page.wait_for_selector(".callout:has-text('2 items drawn')")
    pilot = campaign.batches.get(purpose="pilot")
    with page.expect_navigation():  # else the job may not be asked for yet
        page.get_by_role("button", name=f"Launch batch {pilot.ordinal} (pilot)").click()
    factories.run_jobs()
    for answers in ({"label": "bad"}, {"box": 0, "kind": "yes"}):
        person = factories.annotator(campaign)
        for _ in range(2):
            factories.annotate(campaign, person, **answers)
    watched.go(f"/campaigns/{campaign.slug}/pilot/")
    assert "All annotators agree on 0 of 2 items (0%)." in page.inner_text("main")
    assert_accessible(page, "pilot")
    page.fill("[name=body]", "# Clearer\n\nA harbour is a place.")
    page.fill("[name=note]", "Shorter.")
    with page.expect_navigation(url="**/pilot/"):
        page.get_by_role("button", name="Publish").click()
    with page.expect_navigation():  # else the job may not be asked for yet
        page.get_by_role("button", name="Launch batch 1").click()
    factories.run_jobs()
    assert campaign.batches.get(purpose="work").state == "open"
    assert campaign.guidelines.order_by("-version").first().note == "Shorter."


@pytest.mark.parametrize("view", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_are_imported_looked_at_and_settings_changed_in_chinese(open_browser, tmp_path, view):
    campaign = factories.campaign()
    manager = factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    watched = open_browser(manager, **view)
    speak(watched, "zh-hans")
    page = watched.page
    files = [tmp_path / "灯塔.html", tmp_path / "empty.html"]
    files[0].write_text("<title>灯塔</title><p>灯塔建于一八七一年。</p>", encoding="utf-8")
    files[1].write_text("<div>no box</div>", encoding="utf-8")
    watched.go(f"/campaigns/{campaign.slug}/import/")
    page.set_input_files("#id_documents_file", files)
    with page.expect_navigation():  # else the job may not be asked for yet
        page.locator("section.card").first.locator("button").click()
    factories.run_jobs()
    watched.go(f"/campaigns/{campaign.slug}/documents/?sort=-name")
    with page.expect_navigation():
        page.locator("tbody a").first.click()  # 灯塔.html comes last by name
    assert "灯塔建于一八七一年" in page.inner_text("article.document")
    assert_accessible(page, "a page looked at")
    watched.go(f"/campaigns/{campaign.slug}/settings/")
    page.fill("[name=title]", "灯塔与港口")
    page.keyboard.press("Enter")
    page.wait_for_selector(".callout")
    campaign.refresh_from_db()
    assert campaign.title == "灯塔与港口"
