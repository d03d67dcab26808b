"""The three stages in the hand: keys, taps, widths, what stands around a box, and no connection."""

import pytest
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Assignment
from tests import factories
from tests.browser.test_desk import to_boxes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_keys_choose_a_reason_and_send_nothing(at_work):
    """A reason is a choice that can be changed; only "bad" sends it, by 2 or by Enter."""
    watched, _ = at_work(factories.campaign(items=2))
    page = watched.page
    sent = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/stage/") else None)
    for key in ("3", "7", "6"):
        page.keyboard.press(key)
    assert page.is_checked("input[value=opinion]")
    assert not sent
    first = page.get_attribute("[data-stage]", "data-assignment")
    page.keyboard.press("2")
    page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{first}'])")
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.wait_for_selector(".done-page")
    answers = [row.answer["question"] for row in Annotation.objects.order_by("pk")]
    assert [(one["label"], one["reason"]) for one in answers] == [("bad", "opinion"), ("bad", "incomprehensible")]


NESTED = (
    """<html lang="en"><head><title>Ferry</title></head><body>
<h2>Timetable</h2><p>The ferry leaves three times a day, at these hours:</p>
<ul><li>in the morning at seven, to the island of Brann</li><li>at noon, to the harbour of Sund</li></ul>
<table><caption>Fares of the ferry</caption><tr><th>Passage</th><th>Price in crowns</th></tr>
<tr><td>there and back on one day</td><td>twelve crowns</td></tr></table>
"""
    + "".join(f"<h2>Year {year}</h2><p>In {year} the ferry carried many people over.</p>" for year in range(1871, 1931))
    + "</body></html>"
)


def ferry(items=1):
    campaign = factories.campaign()
    factories.import_page(campaign, NESTED, "page.html")
    rows = [
        {"id": str(number), "question": f"when does ferry {number} leave", "document": "page.html"}
        for number in range(items)
    ]
    factories.import_rows(campaign, rows)
    factories.launch(campaign)
    return campaign


def where(page):
    return page.inner_text("[data-where]").split(" (")[0]


@pytest.mark.parametrize("width", [1280, 390])
def test_pointing_at_one_place_again_takes_the_box_around_it(at_work, width):
    watched, _ = at_work(ferry(), viewport={"width": width, "height": 800}, has_touch=width == 390)
    page = watched.page
    to_boxes(page)
    item = page.locator("[data-document] li").first
    point = item.tap if width == 390 else item.click
    point()
    assert where(page) == "Page › Timetable › List › List item 1"
    page.wait_for_timeout(700)  # longer than a double click
    point()
    assert where(page) == "Page › Timetable › List"
    page.wait_for_timeout(700)
    point()  # and from the largest on again to the smallest
    assert where(page).endswith("List item 1")
    page.click("[data-where] button:has-text('List') >> nth=0")
    assert where(page) == "Page › Timetable › List"
    if width == 390:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        bar = page.locator(".bar")
        assert bar.evaluate("one => one.scrollWidth <= one.clientWidth")
        page.locator("#nesting").fill("0")
        assert where(page).endswith("List item 1")
    else:
        tops = page.locator(".bar > :visible, .bar form > .button").evaluate_all("all => all.map(one => one.offsetTop)")
        assert len({top for top in tops if top}) == 1, "the bar is one row"


def test_enter_shows_a_box_that_is_out_of_sight_first_and_the_outline_follows(at_work):
    watched, _ = at_work(ferry())
    page = watched.page
    to_boxes(page)
    page.keyboard.press("j")
    page.locator("[data-reader]").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    page.wait_for_selector("[data-outline] [aria-current]:has-text('Year 19')")
    assert page.locator("[data-outline] [aria-current]").evaluate(
        "one => one.getBoundingClientRect().bottom <= innerHeight && one.getBoundingClientRect().top > 0"
    )
    page.keyboard.press("Enter")
    page.wait_for_selector("#problem:has-text('Press Enter again')")
    assert page.locator("[data-stage=long_answer]").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")


def test_the_count_of_find_goes_with_its_words(at_work):
    watched, _ = at_work(ferry())
    page = watched.page
    to_boxes(page)
    page.keyboard.press("/")
    page.keyboard.type("zzz")
    assert page.inner_text("[data-find-count]") == "no matches"
    page.keyboard.press("Escape")
    assert page.inner_text("[data-find-count]") == ""


def test_a_row_stands_under_its_headers_and_what_is_around_it_is_shown_on_request(at_work):
    watched, _ = at_work(ferry())
    page = watched.page
    to_boxes(page)
    page.locator("[data-document] td").first.click()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    assert page.inner_text("[data-lead]").split() == "Fares of the ferry Passage Price in crowns".split()
    assert page.locator(".around [data-token]").count() == 0  # only the box's own words can be marked
    page.keyboard.press("b")
    page.wait_for_selector("[data-stage=long_answer]")
    page.locator("[data-document] li").nth(1).click()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-lead]:has-text('three times a day')")
    assert not page.locator("[data-around-part]").first.is_visible()
    page.keyboard.press("c")
    assert "island of Brann" in page.locator("[data-around-part]").first.inner_text()
    page.keyboard.press("c")
    assert not page.locator("[data-around-part]").first.is_visible()


def to_words(page):
    """Go on to the words of the first box."""
    to_boxes(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")


def test_one_word_is_marked_by_dragging_inside_it_or_by_tapping_it_twice(at_work):
    watched, _ = at_work(ferry())
    page = watched.page
    to_words(page)
    first, third = (page.locator("[data-words] [data-token]").nth(number).bounding_box() for number in (0, 2))
    page.mouse.move(first["x"] + 2, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(first["x"] + first["width"] - 2, first["y"] + first["height"] / 2, steps=3)
    page.mouse.up()
    assert page.locator("[data-spans] .text").all_inner_texts() == ["The"]
    middle = third["x"] + third["width"] / 2, third["y"] + third["height"] / 2
    page.mouse.click(*middle)
    assert page.locator("[data-spans] .text").count() == 1
    page.mouse.click(*middle)
    assert page.locator("[data-spans] .text").all_inner_texts() == ["The", "leaves"]


def test_neighbouring_spans_are_two_marks_and_the_blanks_of_one_belong_to_it(at_work):
    watched, _ = at_work(ferry())
    page = watched.page
    to_words(page)
    for key in ("ArrowRight", "Shift+ArrowRight", "Enter", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    assert page.locator("[data-spans] .text").all_inner_texts() == ["The ferry", "leaves"]
    assert page.locator(".is-first").all_inner_texts() == ["The", "leaves"]
    marked = page.evaluate("[...CSS.highlights.get('marked')].map(range => range.toString())")
    assert marked == ["The ferry", "leaves"]


def test_what_could_not_be_sent_is_sent_when_there_is_a_connection(at_work):
    watched, _ = at_work(ferry(items=2))
    watched.expected = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "htmx:")
    page = watched.page
    first = page.get_attribute("[data-stage]", "data-assignment")
    page.keyboard.press("5")
    watched.context.set_offline(True)
    page.keyboard.press("2")
    page.wait_for_selector("#problem:has-text('No connection')")
    assert not Annotation.objects.exists()
    watched.context.set_offline(False)
    page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{first}'])")
    assert Annotation.objects.get().answer["question"]["reason"] == "false_presupposition"


def test_an_answer_that_arrived_although_its_reply_did_not_is_sent_once(at_work):
    watched, _ = at_work(ferry(items=2))
    watched.expected = ("ERR_", "htmx:")
    page = watched.page
    lost = []

    def lose(route):
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)  # the server has it
        return route.abort("internetdisconnected")

    page.route("**/stage/", lose)
    page.reload()  # Chromium may let a page that was open before send its next request past the route
    page.wait_for_selector("[data-stage=question]")
    page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer]")
    assert lost == [200]
    draft = Assignment.objects.get(state="live").draft
    assert draft["done"] == ["question"]


def test_a_field_that_was_drawn_larger_breaks_no_policy(at_work):
    """A browser notes the size in a style attribute, which the next page must not inherit."""
    watched, _ = at_work(ferry(items=2))
    page = watched.page
    page.locator("#report-text").evaluate("one => one.style.height = '300px'")
    to_boxes(page)
    page.keyboard.press("n")
    page.wait_for_selector("[data-stage=question]")


def answer_bad(page):
    """Judge the question bad and wait for the next one."""
    before = page.get_attribute("[data-stage]", "data-assignment")
    page.keyboard.press("2")
    page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{before}'])")


def test_an_answer_before_the_last_is_opened_again_from_the_list_and_the_count_is_right(at_work):
    campaign = ferry(items=3)
    numbers_refresh(campaign=campaign, now=timezone.now())
    watched, _ = at_work(campaign)
    page = watched.page
    first = page.inner_text("#question")
    for done in (1, 2):
        answer_bad(page)
        assert page.inner_text("[data-progress]").startswith(f"{done} of about 3")
    page.keyboard.press("u")
    page.wait_for_selector("[data-stage=question] .callout")
    assert page.inner_text("[data-progress]").startswith("1 of about 3")
    answer_bad(page)
    page.keyboard.press("l")
    page.wait_for_url("**/recent/")
    page.locator(".card", has_text=first).get_by_role("button", name="Reopen").click()
    page.wait_for_selector("[data-stage=question] .callout")
    assert page.inner_text("#question") == first


def test_a_mark_that_cannot_be_kept_says_so_until_it_is(at_work):
    watched, _ = at_work(ferry(items=1))
    watched.expected = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    page = watched.page
    with page.expect_response("**/stage/"):
        page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer]")
    watched.context.set_offline(True)
    page.locator("p[data-box]").first.click()
    page.wait_for_selector("[data-saved]:has-text('Not saved: no connection')")
    watched.context.set_offline(False)
    page.wait_for_selector("[data-saved]:has-text('Saved')")
