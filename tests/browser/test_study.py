"""A study of 25 annotations in the browser: from the extension of a sample to the figures, with two experts."""

import pytest

from accounts.models import Role
from annotation.models import Annotation
from quality.models import Case, CaseState
from tests import factories
from tests.axe import assert_accessible
from tests.browser.test_quality import member

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def answers(campaign, people, ways):
    """Let people answer what they are handed: most of them the same box of the first question, half of the second."""
    first = campaign.items.order_by("pk").first().pk
    for number, person in enumerate(people):
        for _ in range(2):
            assignment = factories.claim(campaign, person)
            finds = number % 12 != 11 if assignment.item_id == first else assignment.slot.index % 2 == 0
            box = 0 if assignment.slot.index % 5 else 1
            chosen = {"box": box, "kind": "yes"} if finds else {"box": -1}
            factories.submit(factories.answer(assignment, label="good", **chosen))
    assert Annotation.objects.filter(state="counted").count() == 2 * ways


def judge(expert, campaign, keys):
    """Judge every open case by keyboard."""
    for _ in range(Case.objects.count()):
        expert.go(f"/campaigns/{campaign.slug}/cases/")
        expert.page.get_by_text("judge independently", exact=False).wait_for()
        for key in keys:
            expert.page.keyboard.press(key)
        with expert.page.expect_navigation():
            expert.page.keyboard.press("Enter")
    expert.page.get_by_text("No cases to judge").wait_for()


def opened(open_browser, person, path):
    """Return a page of its own: that of a job goes on by itself."""
    browser = open_browser(person)
    browser.go(path)
    return browser.page


def test_a_study_of_25_annotations_goes_from_the_extension_to_the_figures(open_browser, transactional_db):
    campaign = factories.campaign(n=5)
    factories.import_questions(campaign, ["who built the harbour of Lund", "when was the harbour of Lund built"])
    factories.launch(campaign)
    people = [factories.annotator(campaign) for _ in range(25)]
    answers(campaign, people[:5], 5)
    boss = member(campaign, Role.MANAGER)
    experts = [member(campaign, Role.EXPERT) for _ in range(2)]
    page = opened(open_browser, boss, f"/campaigns/{campaign.slug}/studies/design/")
    page.select_option("[name=split]", index=1)
    for name, value in (("ways", "25"), ("sample", "2"), ("experts", "2")):
        page.fill(f"[name={name}]", value)
    page.get_by_role("button", name="Estimate the effort").click()
    page.get_by_text("Calculating").wait_for()
    factories.run_jobs()
    page.get_by_role("button", name="Request 40 annotations").wait_for()
    assert_accessible(page, "the plan of a study")
    page.get_by_role("button", name="Request 40 annotations").click()
    page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    answers(campaign, people[5:], 25)
    page = opened(open_browser, boss, f"/campaigns/{campaign.slug}/studies/design/")
    page.get_by_role("link", name="Send a sample of these items to experts").click()
    page.get_by_role("button", name="Send to experts").click()
    page.wait_for_url("**/jobs/**")
    factories.run_jobs()
    for expert in experts:
        judge(open_browser(expert), campaign, "12")
    assert set(Case.objects.values_list("state", flat=True)) == {CaseState.DECIDED}
    page = opened(open_browser, boss, f"/campaigns/{campaign.slug}/studies/")
    factories.run_jobs()
    page.reload()
    page.get_by_role("cell", name="Super-annotator (threshold α = 8)").first.wait_for()
    page.get_by_text("2 items with 25 annotations").wait_for()
    page.get_by_role("cell", name="/ 25").first.wait_for()
    for figure in ("figure-4-passage", "figure-4-short", "coverage", "bounds", "paths"):
        page.locator(f"#chart-{figure} svg").wait_for()
    assert_accessible(page, "the studies")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    assert download.value.suggested_filename == f"{campaign.slug}-studies.json"
