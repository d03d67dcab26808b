"""Systems in the browser: a board in human terms judged by two people, and systems judged among annotators by two experts."""

import pytest

from annotation.models import Annotation, Item
from evaluation import system_scores
from quality.models import Case, Opinion
from tests import factories
from tests.axe import PHONE, assert_accessible
from tests.evaluation.predicted import WRONG, asked_campaign, experts_there, number_of, predictions, truth
from tests.evaluation.systems import COUNT, answers, judging_campaign, table
from tests.quality.worlds import expert_of

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_board_goes_from_uploads_to_rectified_scores(open_browser, tmp_path, monkeypatch):
    monkeypatch.setattr(system_scores, "STALE_SECONDS", 0)
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


def test_two_experts_judge_systems_among_annotators(open_browser, tmp_path, monkeypatch):
    monkeypatch.setattr(system_scores, "STALE_SECONDS", 0)
    campaign = asked_campaign(items=20, careless={1})
    for _ in range(2):
        expert_of(campaign)
    manager = open_browser(factories.user(is_admin=True))
    page, url = manager.page, f"/campaigns/{campaign.slug}/systems/"
    for name, box_of in (("reader-good", truth), ("reader-poor", lambda number: WRONG)):
        path = tmp_path / f"{name}.json"
        path.write_bytes(predictions(campaign, box_of))
        manager.go(url)
        page.fill("#id_system", name)
        page.set_input_files("#id_file", path)
        page.get_by_role("button", name="Upload").click()
        page.wait_for_url("**/jobs/**")
        factories.run_jobs()
    manager.go(url)
    page.fill("#id_count", "20")
    page.fill("#id_experts", "2")
    page.get_by_role("button", name="Send to experts").click()
    page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    for membership in experts_there(campaign):
        judge_cases(open_browser(membership.user), campaign)
    assert Opinion.objects.filter(phase="blind").count() == 2 * Case.objects.count() == 40
    manager.go(url)
    factories.run_jobs()
    manager.go(url)
    page.get_by_text("An annotator", exact=True).first.wait_for()
    assert page.locator("tbody th").all_inner_texts()[:3] == ["An annotator", "reader-good", "reader-poor"]
    assert_accessible(page, "systems among annotators")
    phone = open_browser(factories.user(is_admin=True), **PHONE)
    phone.go(url)
    assert_accessible(phone.page, "systems among annotators on a phone")


def judge_cases(worker, campaign):
    """Judge all cases with the keyboard, by the truth; nothing on the page tells whose an answer is."""
    page = worker.page
    for case in Case.objects.filter(campaign=campaign).select_related("item").order_by("pk"):
        worker.go(f"/campaigns/{campaign.slug}/cases/")
        assert page.locator("input[name=case]").input_value() == str(case.pk)
        assert not [word for word in ("reader-", "of_system", "of_reference") if word in page.content()]
        good = truth(number_of(case.item))
        for part in case.parts:
            page.keyboard.press("1" if part["box"] == good else "3")
        page.keyboard.press("Enter")
        page.wait_for_function("pk => document.querySelector('input[name=case]')?.value !== pk", arg=str(case.pk))


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
