"""The annotator's desk: nothing lost, nothing doubled, nothing seen too early, other scripts."""

import time

import pytest

from annotation.models import Annotation, Assignment
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ARABIC = """<html lang="ar" dir="rtl"><head><title>الميناء</title></head><body><p dir="rtl">بُني ميناء المدينة سنة 1871 على يد المهندسة أغنيس توليفر وشقيقها.</p></body></html>"""
CHINESE = """<html lang="zh"><head><title>港口</title></head><body><p>伦德港建于1871年，由阿格尼丝·托利弗和她的兄弟建造。</p></body></html>"""


def to_boxes(page):
    page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer]")


def test_the_page_is_nowhere_before_the_question_is_judged(at_work, live_server):
    watched, person = at_work(factories.campaign(items=3))
    seen = []  # of what ended: the text of an answer that a reload cut off never comes
    watched.page.on("requestfinished", lambda request: seen.append(request.response()))
    watched.page.reload()
    assert "Tolliver" not in watched.page.content()
    assert any(response.request.resource_type == "document" for response in seen)
    assert not any(
        "Tolliver" in response.text()
        for response in seen
        if response.request.resource_type in ("document", "fetch", "xhr")
    )
    to_boxes(watched.page)
    assert "Tolliver" in watched.page.content()
    until = time.monotonic() + 10
    while not Assignment.objects.filter(state="reserved").exists() and time.monotonic() < until:
        watched.page.wait_for_timeout(50)
    assert Assignment.objects.filter(state="reserved").count() == 1
    assert not any("reserve" in response.url and "Tolliver" in response.text() for response in seen)


def test_a_reload_and_a_crash_lose_no_mark(at_work, open_browser):
    watched, person = at_work(factories.campaign(items=1))
    page = watched.page
    to_boxes(page)
    page.keyboard.press("j")
    page.reload()
    page.wait_for_selector(".is-current")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("[data-saved]:has-text('Saved')")
    watched.context.close()  # the browser is gone without a word
    watched.close = lambda: None
    again = open_browser(person)
    again.go(f"/work/{Assignment.objects.get().campaign.slug}/")
    again.page.wait_for_selector("[data-spans] li")
    again.page.keyboard.press("d")
    again.page.wait_for_selector(".done-page")
    assert len(Annotation.objects.get().answer["short_answer"]["spans"]) == 1


def test_a_mark_that_arrives_while_the_next_page_is_on_its_way_is_shown_there(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    page = watched.page
    to_boxes(page)

    def late(route):
        made = route.fetch()  # made before the mark arrives, and shown after it did
        page.wait_for_timeout(1500)
        route.fulfill(response=made)

    page.keyboard.press("j")
    page.route("**/work/*/", late)
    page.reload()
    assert Assignment.objects.get().draft["suggestion"]["long_answer"]["candidate_index"] == "0"
    page.wait_for_selector(".is-current")


@pytest.mark.slow
def test_leaving_the_page_at_once_still_keeps_the_mark(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    to_boxes(watched.page)
    watched.page.keyboard.press("j")
    watched.go("/")
    until = time.monotonic() + 10
    while not Assignment.objects.get().draft.get("suggestion") and time.monotonic() < until:
        watched.page.wait_for_timeout(50)  # the request is on its way
    assert Assignment.objects.get().draft["suggestion"]["long_answer"]["candidate_index"] == "0"


def test_a_second_tab_is_told_of_a_conflict_and_nothing_is_doubled(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    other = watched.context.new_page()
    other.goto(watched.page.url)
    other.wait_for_selector("[data-stage=question]")
    to_boxes(watched.page)
    other.keyboard.press("2")
    other.wait_for_selector("#problem:has-text('another tab')")
    assert not Annotation.objects.exists()
    other.reload()
    other.wait_for_selector("[data-stage=long_answer]")


def test_a_double_click_submits_once(at_work):
    watched, _ = at_work(factories.campaign(items=2))
    first = watched.page.get_attribute("[data-stage]", "data-assignment")
    watched.page.locator("button[value=bad]").first.dblclick()
    watched.page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{first}'])")
    watched.page.wait_for_load_state("networkidle")
    assert str(Annotation.objects.get().assignment_id) == first


@pytest.mark.slow
def test_going_back_and_taking_the_same_box_again_keeps_the_marks(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    page = watched.page
    to_boxes(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-saved]:has-text('Saved')")
    page.keyboard.press("b")
    page.wait_for_selector("[data-stage=long_answer] .is-current")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-spans] li")


@pytest.mark.slow
def test_going_back_changes_the_judgment_and_keeps_the_first(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    page = watched.page
    to_boxes(page)
    page.keyboard.press("b")
    page.wait_for_selector("[data-stage=question] .callout")
    page.keyboard.press("2")
    page.wait_for_selector(".done-page")
    assert Annotation.objects.get().answer["question"] == {"first": "good", "label": "bad", "reason": ""}


@pytest.mark.slow
def test_find_headings_and_nested_boxes(at_work):
    watched, _ = at_work(factories.campaign(items=1))
    page = watched.page
    to_boxes(page)
    page.keyboard.press("/")
    page.keyboard.type("granite")
    page.keyboard.press("Enter")
    assert page.inner_text("[data-find-count]") == "1/1"
    assert "List item 1" in page.inner_text("[data-where]")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("[data-where]").startswith("Page › Harbour › List (")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert "List item 2" in page.inner_text("[data-where]")
    page.keyboard.press("H")
    assert "Paragraph" in page.inner_text("[data-where]")


@pytest.mark.slow
@pytest.mark.parametrize(("html", "expected"), [(ARABIC, "بُني ميناء"), (CHINESE, "伦 德")])
def test_right_to_left_and_chinese_pages_can_be_marked_by_keyboard(at_work, html, expected):
    campaign = factories.campaign()
    factories.import_page(campaign, html, "page.html")
    factories.import_rows(campaign, [{"id": "1", "question": "什么？ ما هو؟", "document": "page.html"}])
    factories.launch(campaign)
    watched, _ = at_work(campaign)
    page = watched.page
    to_boxes(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    forward = "ArrowLeft" if "rtl" in html else "ArrowRight"
    for key in (forward, f"Shift+{forward}", "Enter"):
        page.keyboard.press(key)
    assert page.inner_text("[data-spans] .text") == expected
    page.keyboard.press("d")
    page.wait_for_selector(".done-page")


@pytest.mark.slow
def test_skipping_and_reporting(at_work):
    watched, _ = at_work(factories.campaign(items=2))
    page = watched.page
    first = page.get_attribute("[data-stage]", "data-assignment")
    page.keyboard.press("r")
    page.fill("#report-text", "the page is empty")
    page.click("#report button.primary")
    page.wait_for_selector("#report .callout")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.check("input[value=offensive]")
    page.click("#skip button.primary")
    page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{first}'])")
    assert Assignment.objects.get(pk=first).skip_reason == "offensive"


def test_without_javascript_the_question_can_be_judged(open_browser):
    campaign = factories.campaign(items=1)
    watched = open_browser(factories.annotator(campaign), java_script_enabled=False)
    watched.go(f"/work/{campaign.slug}/")
    watched.page.click("button:has-text('Start')")
    watched.page.check("input[value=opinion]")
    watched.page.click("button[value=bad]")
    assert Annotation.objects.get().answer["question"]["reason"] == "opinion"


def submit_short(page):
    """Answer from stage 1 on with the first box and a span, by keyboard."""
    to_boxes(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    for key in ("ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.keyboard.press("d")


@pytest.mark.parametrize("items", [2, 1])
def test_one_key_takes_the_last_question_back_with_all_that_was_marked(at_work, items):
    """Also after the last item, where nothing else is left to do."""
    watched, _ = at_work(factories.campaign(items=items))
    page = watched.page
    submit_short(page)
    page.wait_for_selector("button:has-text('Undo last answer')")
    page.keyboard.press("u")
    page.wait_for_selector("[data-stage=short_answer] [data-spans] li")
    assert Annotation.objects.get().state == "undone"
    page.keyboard.press("b")
    page.wait_for_selector("[data-stage=long_answer] .is-current")
    page.keyboard.press("b")
    page.wait_for_selector("[data-stage=question] .callout")  # the first judgment stays on record
    page.keyboard.press("2")
    page.wait_for_selector(".done-page" if items == 1 else "[data-stage=question]:not(:has(.callout))")
    counted = Annotation.objects.get(state="counted")
    assert (counted.answer["question"]["first"], counted.answer["question"]["label"]) == ("good", "bad")
    if items == 1:
        page.keyboard.press("u")
        page.wait_for_selector("[data-stage=question] .callout")
        assert not Annotation.objects.filter(state="counted").exists()
