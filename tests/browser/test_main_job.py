"""The main job on real input: import, five annotators through all stages, a dataset that validates."""

import gzip
import json
import re

import pytest
from django.core.management import call_command

from accounts.models import User
from accounts.services import invitation_create
from annotation.models import Annotation, Campaign, EventChunk, Item
from jobs.models import Job
from jobs.services import jobs_run_due
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.shared, pytest.mark.django_db(transaction=True)]


def test_from_real_pages_and_questions_to_a_five_way_dataset(open_browser, shared, tmp_path, now):
    admin = factories.user("admin", is_admin=True)
    manager = open_browser(admin)
    campaign = _create_campaign(manager)
    _import(manager, shared, tmp_path)
    assert Item.objects.count() == 4
    links = _invitations(campaign, admin, now)
    for number, link in enumerate(links):
        _annotate(open_browser(), link, number)
    assert Annotation.objects.filter(state="counted").count() == 20
    assert EventChunk.objects.exists()
    _export(manager, campaign, tmp_path)


def _create_campaign(manager):
    page = manager.page
    manager.go("/campaigns/new/")
    page.fill("[name=title]", "The earth")
    page.fill("[name=slug]", "earth")
    page.fill("[name=splits]", "dev 5 1")
    page.uncheck("[name=has_training]")
    page.fill("[name=purpose]", "To test the platform.")
    page.fill("[name=contact]", "tests@example.org")
    page.click("main form button.primary")
    page.wait_for_url("**/import/")
    return Campaign.objects.get(slug="earth")


def _import(manager, shared, tmp_path):
    """Import the ten real pages as a zip and some of the real questions about them."""
    import zipfile

    page = manager.page
    archive = tmp_path / "pages.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted((shared / "nq-html").glob("*.html")):
            file.write(path, path.name)
    page.set_input_files("section:nth-of-type(1) [name=file]", archive)
    with page.expect_navigation():
        page.click("button:has-text('Import pages')")
    assert jobs_run_due() == 1
    assert list(Job.objects.values_list("state", "error")) == [("done", "")]
    page.reload()
    page.locator(".tag.good").wait_for()
    rows = [json.loads(line) for line in (shared / "nq-html/questions.jsonl").read_text().splitlines()]
    questions = factories.write(
        tmp_path / "questions.jsonl", [row for row in rows if row["page"] == "Inner-core.html"][:4]
    )
    page.set_input_files("section:nth-of-type(2) [name=file]", questions)
    with page.expect_navigation():
        page.click("button:has-text('Import items')")
    assert jobs_run_due() == 1
    page.reload()
    page.click("text=Launch batch 1")
    while jobs_run_due():
        pass


def _invitations(campaign, admin, now):
    return [
        invitation_create(
            scope_id=campaign.pk, role="annotator", uses=1, days=1, note="", actor_id=admin.surrogate_id, now=now
        )
        for _ in range(5)
    ]


def _annotate(desk, token, number):
    """Sign up by the link, agree, and answer four items, each in another way."""
    page = desk.page
    desk.go(f"/invite/{token}/")
    page.get_by_role("link", name="Create an account").click()
    page.fill("[name=email]", f"annotator{number}@example.org")
    page.fill("[name=password1]", "correct horse battery")
    page.fill("[name=password2]", "correct horse battery")
    page.click("main form button.primary")
    page.click("button:has-text('Accept')")
    page.click("text=Start labeling")
    page.click("button:has-text('Start')")
    page.click("text=I agree")
    ways = [_by_mouse, _by_keyboard, _yes, _nothing]
    for turn in range(4):
        page.wait_for_selector("[data-stage=question]")
        page.wait_for_load_state()  # a page is seen before its scripts listen for keys
        before = page.get_attribute("[data-stage]", "data-assignment")
        if (number, turn) == (4, 3):
            page.keyboard.press("6")  # asks for an opinion
            page.keyboard.press("2")  # bad
        else:
            ways[turn](page)
        if turn < 3:
            page.wait_for_selector(f"[data-stage=question]:not([data-assignment='{before}'])")
    page.wait_for_selector("h1:has-text('All done')")
    assert re.fullmatch(r"\d+ done", page.inner_text("[data-progress]"))  # nothing is left, whatever was estimated
    assert page.inner_text("[data-progress]").startswith("4 ")  # the header counts the last answer too
    assert User.objects.filter(email=f"annotator{number}@example.org").exists()


def _to_boxes(page):
    assert "data-box" not in page.content()  # the page is not there before the question is judged
    page.keyboard.press("1")
    page.wait_for_selector("[data-stage=long_answer]")


def _by_mouse(page):
    """Choose a paragraph by pointer, drag over words, and take a second span with two taps."""
    _to_boxes(page)
    page.locator(".document p[data-box]").nth(1).click()
    page.click("button:has-text('Use this box')")
    page.wait_for_selector("[data-stage=short_answer]")
    words = page.locator("[data-token]")
    first, last = words.nth(2).bounding_box(), words.nth(4).bounding_box()
    page.mouse.move(first["x"] + 2, first["y"] + first["height"] / 2)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] - 2, last["y"] + last["height"] / 2, steps=6)
    page.mouse.up()
    words.nth(8).click()
    words.nth(9).click()
    assert page.locator("[data-spans] li").count() == 2
    page.click("[data-submit]")


def _by_keyboard(page):
    """Walk to a box, mark two spans, take one back, submit: never touching the mouse."""
    _to_boxes(page)
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    for key in (
        "ArrowRight",
        "ArrowRight",
        "Shift+ArrowRight",
        "Enter",
        "ArrowRight",
        "ArrowRight",
        "ArrowRight",
        "Enter",
    ):
        page.keyboard.press(key)
    assert page.locator("[data-spans] li").count() == 2
    page.keyboard.press("x")
    assert page.locator("[data-spans] li").count() == 1
    page.keyboard.press("z")
    assert page.locator("[data-spans] li").count() == 2
    page.keyboard.press("d")


def _yes(page):
    _to_boxes(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=short_answer]")
    page.keyboard.press("y")
    page.keyboard.press("d")


def _nothing(page):
    _to_boxes(page)
    page.keyboard.press("a")  # the page does not say


def _export(manager, campaign, tmp_path):
    page = manager.page
    manager.go(f"/campaigns/{campaign.slug}/releases/")
    page.click("text=Create release")
    page.wait_for_url("**/releases/1/")
    while jobs_run_due():
        pass
    page.reload()
    with page.expect_download() as download:
        page.click("a:has-text('nq-dev-00.jsonl.gz')")
    path = tmp_path / "nq-dev-00.jsonl.gz"
    download.value.save_as(path)
    call_command("validate_nq", str(path))
    with gzip.open(path, "rt") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == 4
    assert all(len(record["annotations"]) == 5 for record in records)
    annotations = [annotation for record in records for annotation in record["annotations"]]
    assert sum(len(annotation["short_answers"]) == 2 for annotation in annotations) == 10
    assert sum(annotation["yes_no_answer"] == "YES" for annotation in annotations) == 5
    assert sum(annotation["long_answer"]["candidate_index"] == -1 for annotation in annotations) == 5
