"""A board in human terms in the browser: from uploads to rectified scores, judged blind by two people."""

import pytest

from annotation.models import Annotation, Item
from evaluation.rectified import services
from tests import factories
from tests.axe import PHONE, assert_accessible
from tests.evaluation.systems import COUNT, answers, judging_campaign, table

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_board_goes_from_uploads_to_rectified_scores(open_browser, tmp_path, monkeypatch):
    monkeypatch.setattr(services, "STALE_SECONDS", 0)
    campaign = judging_campaign(n=2)
    path = tmp_path / "systems.csv"
    path.write_bytes(table(answers("reader-1", 0.9), answers("reader-2", 0.5)))
    manager = open_browser(factories.user(is_admin=True))
    page, url = manager.page, f"/campaigns/{campaign.slug}/systems/"
    manager.go(url)
    page.get_by_text("No systems yet.").wait_for()
    page.set_input_files("#id_file", path)
    page.fill("#id_count", str(COUNT))
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    factories.launch(campaign)
    for person in (factories.annotator(campaign), factories.annotator(campaign)):
        judge_all(open_browser(person), campaign)
    assert Annotation.objects.count() == 2 * Item.objects.count()
    factories.examine(campaign)
    manager.go(url)
    factories.run_jobs()
    manager.go(url)
    page.get_by_text("1 of 1 pairs are told apart").wait_for()
    assert [cell.split("\n")[0] for cell in page.locator("tbody th").all_inner_texts()][:2] == ["reader-1", "reader-2"]
    assert_accessible(page, "systems")
    phone = open_browser(factories.user(is_admin=True), **PHONE)
    phone.go(url)
    assert_accessible(phone.page, "systems on a phone")


def judge_all(worker, campaign):
    """Judge all answers with the keyboard, by the truth that the references show."""
    worker.go(f"/work/{campaign.slug}/")
    worker.page.get_by_role("button", name="Start").click()
    page = worker.page
    for number in range(Item.objects.count()):
        page.wait_for_function("n => document.querySelector('.candidate') && window.performance && n >= 0", arg=number)
        assert "reader-" not in page.content()
        reference, answer = (page.locator(f".{part} .text").inner_text() for part in ("known", "candidate"))
        before = page.locator("#question").inner_text() + answer
        page.keyboard.press("1" if reference in answer else "2")
        page.wait_for_function(
            """before => !document.querySelector('.candidate')
            || document.querySelector('#question').innerText + document.querySelector('.candidate .text').innerText !== before""",
            arg=before,
        )
