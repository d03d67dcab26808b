"""The quality desk in the browser: an NQ campaign through gold, a review, a suspension with appeal, and its experts."""

import json

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation, Standing
from documents.selectors import tokenization_of
from quality.dashboard.services import quality_numbers_refresh
from quality.experts.services.cases import case_ask
from quality.experts.services.opinions import opinion_give
from quality.gold.services.keys import gold_import
from quality.models import Case, CaseReason, GoldKey, Opinion, Phase, Review
from quality.policies.policy import Policy
from quality.policies.services import policy_publish
from tests import factories
from tests.axe import VARIANTS, assert_accessible
from tests.quality.worlds import judged, nq

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def member(campaign, role):
    person = factories.user()
    factories.join(campaign, person, role)
    return person


@pytest.fixture
def campaign():
    made = factories.campaign(n=2)
    policy = Policy(gold_rate=0, gold_first=3, gold_first_items=3, inspection_rate=1.0)
    policy_publish(campaign=made, policy=policy, actor_id=None, now=timezone.now())
    return made


def gold_file(tmp_path, count=4):
    rows = [
        {
            "id": f"gold{n}",
            "question": f"gold question {n}?",
            "document": "harbour.html",
            "accepted": [{"long_answer": 0}],
        }
        for n in range(count)
    ]
    return factories.write(tmp_path / "gold.jsonl", rows)


def answer_bad(page, count):
    """Judge questions as bad, one after the other."""
    for _ in range(count):
        page.locator("#question").wait_for()
        text = page.locator("#question").inner_text()
        page.keyboard.press("2")
        page.wait_for_function("text => document.querySelector('#question')?.innerText !== text", arg=text)


def test_gold_a_review_a_suspension_and_an_appeal(campaign, open_browser, tmp_path):
    factories.import_questions(campaign, [f"question {index} about the harbour" for index in range(3)])
    factories.launch(campaign)
    person, boss = factories.annotator(campaign), member(campaign, Role.MANAGER)
    manager = open_browser(boss)
    desk = manager.page

    def manage(path):
        manager.go(f"/campaigns/{campaign.slug}/{path}")

    manage("gold/")
    desk.set_input_files("input[type=file]", gold_file(tmp_path))
    desk.fill("#id_experts", "0")
    desk.click("main form[enctype] button.primary")
    factories.run_jobs()
    assert GoldKey.objects.count() == 4

    worker = open_browser(person)
    worker.go(f"/work/{campaign.slug}/")
    worker.page.get_by_role("button", name="Start").click()
    answer_bad(worker.page, 3)
    factories.examine(campaign)
    assert campaign.participations.get(surrogate_id=person.surrogate_id).standing == Standing.PAUSED
    worker.go(f"/campaigns/{campaign.slug}/standing/")
    worker.page.get_by_text("A manager will decide by").wait_for()

    manage("review/")
    desk.fill("textarea[name=reason]", "Three of three were wrong.")
    with desk.expect_navigation():  # it is sent once the page knows whose session it is
        desk.get_by_role("button", name="Suspend and pay for completed work").click()
    worker.go(f"/campaigns/{campaign.slug}/standing/")
    worker.page.get_by_text("Three of three were wrong.").wait_for()
    worker.page.fill("#text", "The keys say good, the guidelines say bad.")
    worker.page.get_by_role("button", name="Appeal").click()
    worker.page.get_by_text("A manager will reply here").first.wait_for()
    manage("review/")
    desk.get_by_text("The keys say good, the guidelines say bad.").wait_for()
    desk.fill("textarea[name=reason]", "You are right, and the keys are retired.")
    desk.get_by_role("button", name="Lift the suspension and count the work again").click()
    desk.get_by_text("Nothing to review").wait_for()
    factories.run_jobs()
    worker.go(f"/campaigns/{campaign.slug}/standing/")
    worker.page.get_by_text("You're in good standing").wait_for()
    assert Review.objects.get().appeal_answer.startswith("You are right")


def three_answers(campaign):
    factories.import_questions(campaign, ["who built the harbour of Lund"])
    factories.launch(campaign)
    for box, kind in ((0, "yes"), (1, "none")):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=box, kind=kind)
    return campaign.items.get()


def test_the_next_case_begins_without_the_judgments_of_the_one_before(campaign, open_browser):
    factories.import_questions(campaign, ["who built the harbour of Lund", "when was the harbour of Lund built"])
    factories.launch(campaign)
    for box, kind in ((0, "yes"), (1, "none")):
        person = factories.annotator(campaign)
        for _ in range(2):
            factories.annotate(campaign, person, label="good", box=box, kind=kind)
    boss, expert = member(campaign, Role.MANAGER), open_browser(member(campaign, Role.EXPERT))
    for item in campaign.items.all():
        case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    page = expert.page
    for left in (1, 0):
        expert.go(f"/campaigns/{campaign.slug}/cases/")
        assert not page.locator("input:checked").count() and not page.locator("form .callout").count()
        for choice in page.locator("input[type=radio][value=wrong]").all():
            choice.check()
        page.wait_for_timeout(600)  # until a draft is kept
        with page.expect_navigation():
            page.get_by_role("button", name="Submit").click()
        assert not page.locator("input:checked").count()
        assert Case.objects.filter(state="open").count() == left


def test_experts_judge_by_keyboard_alone_then_discuss_and_write_a_consensus(campaign, open_browser):
    item, boss = three_answers(campaign), member(campaign, Role.MANAGER)
    manager = open_browser(boss)
    manager.go(f"/campaigns/{campaign.slug}/items/{item.pk}/")
    manager.page.get_by_text("Ask the experts").click()
    manager.page.get_by_role("button", name="Ask experts", exact=True).click()
    manager.page.get_by_text("Sent to the experts").first.wait_for()
    first, second = (open_browser(member(campaign, Role.EXPERT)) for _ in range(2))
    case = Case.objects.get()
    for expert, keys in ((first, "113"), (second, "123")):
        expert.go(f"/campaigns/{campaign.slug}/cases/")
        expert.page.get_by_text("judge independently").wait_for()
        for key in keys:
            expert.page.keyboard.press(key)
        expert.page.keyboard.press("Enter")
        expert.page.get_by_text("No cases to judge").wait_for()
        if expert is first:  # nothing of the second is there yet, nor of their own to compare
            response = expert.page.goto(f"{expert.base}/campaigns/{campaign.slug}/cases/{case.pk}/")
            assert response.status == 404
    said = list(Opinion.objects.order_by("pk").values_list("said", flat=True))
    assert [list(one.values()) for one in said] == [["correct", "correct", "wrong"], ["correct", "debatable", "wrong"]]
    first.go(f"/campaigns/{campaign.slug}/cases/")
    first.page.get_by_role("link", name="the experts disagree").click()
    first.page.fill("#text", "The page says yes in so many words.")
    with first.page.expect_navigation():
        first.page.get_by_role("button", name="Send").click()
    second.go(f"/campaigns/{campaign.slug}/cases/{case.pk}/")
    second.page.get_by_text("in so many words").wait_for()
    for part in case.parts:
        second.page.check(f"input[name='{part['key']}'][value=correct]")
    second.page.fill("#justification", "It does.")
    second.page.get_by_role("button", name="Propose this consensus").click()
    second.page.get_by_text("Another expert has to confirm it.").wait_for()
    first.go(f"/campaigns/{campaign.slug}/cases/{case.pk}/")
    first.page.get_by_role("button", name="Confirm the consensus").click()
    first.page.get_by_text("It does.").wait_for()
    assert Opinion.objects.get(phase=Phase.CONSENSUS).said == dict.fromkeys(
        (part["key"] for part in case.parts), "correct"
    )
    assert Annotation.objects.count() == 2  # experts add no annotations


@pytest.fixture
def world(campaign, tmp_path):
    """Return a campaign with something on every page of the quality desk, and who sees them."""
    item, expert, boss = three_answers(campaign), member(campaign, Role.EXPERT), member(campaign, Role.MANAGER)
    other = member(campaign, Role.EXPERT)
    now = timezone.now()
    rows = [json.loads(line) for line in gold_file(tmp_path).read_text().splitlines()]
    gold_import(campaign=campaign, rows=list(enumerate(rows, 1)), actor_id=None, now=now, experts=1)
    GoldKey.objects.filter(item__external_id="gold0").update(state="active")
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=now)
    case = Case.objects.get(because=CaseReason.MANAGER)
    for person, grade in ((expert, "correct"), (other, "debatable")):
        grades = dict.fromkeys((part["key"] for part in case.parts), grade)
        opinion_give(case=case, surrogate_id=person.surrogate_id, said=grades, justification="Read twice.", now=now)
    factories.examine(campaign)
    quality_numbers_refresh(campaign=campaign, now=now)
    return campaign, boss, expert, case


def pages_of(world):
    campaign, boss, expert, case = world
    base = f"/campaigns/{campaign.slug}/"
    key, person = GoldKey.objects.order_by("pk").first(), Annotation.objects.first().surrogate_id
    managers = [
        "summary/",
        "annotators/",
        "gold/",
        f"gold/{key.pk}/",
        "experts/",
        "policy/",
        "rules/",
        "spot-checks/",
        "review/",
        f"annotators/{person}/",
    ]
    return [(boss, base + path) for path in managers] + [(expert, base + "cases/"), (expert, f"{base}cases/{case.pk}/")]


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_pages_are_accessible_and_clean(world, open_browser, language, view):
    browsers = {}
    for person, path in pages_of(world):
        watched = browsers.get(person.pk) or browsers.setdefault(person.pk, open_browser(person, **view))
        watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])
        watched.go(path)
        assert watched.page.get_attribute("html", "lang") == language
        assert_accessible(watched.page, f"{path} {language}")


@pytest.mark.parametrize(("language", "view"), VARIANTS)
def test_the_charts_are_accessible_and_clean(monkeypatch, open_browser, language, view):
    campaign = judged(monkeypatch)
    boss = member(campaign, Role.MANAGER)
    watched = open_browser(boss, **view)
    watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])
    watched.go(f"/campaigns/{campaign.slug}/summary/")
    watched.page.locator("svg.plot").nth(3).wait_for()  # pace, agreement, gold, confusion
    assert watched.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(watched.page, f"charts {language}")


@pytest.mark.parametrize("width", [1280, 390])
def test_what_each_annotator_marked_is_shown_on_the_page_and_can_be_hidden(open_browser, width):
    campaign = nq(n=3, items=1)
    item = campaign.items.filter(batch__purpose="work").get()
    first = tokenization_of(item.tokenization).candidates[0].start_token + 1  # after the tag
    for spans in ([[first, first + 2]], [[first + 1, first + 3]]):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=0, spans=spans)
    factories.annotate(campaign, factories.annotator(campaign), label="good", box=1, kind="yes")
    watched = open_browser(factories.user(is_admin=True), viewport={"width": width, "height": 800})
    watched.go(f"/campaigns/{campaign.slug}/items/{item.pk}/")
    page = watched.page
    page.wait_for_selector("#document .is-compared")
    chips = page.locator("#document .who-chips")
    assert sorted(len(one.split()) for one in chips.all_inner_texts()) == [1, 2]
    said = page.locator("#document .is-said")
    assert said.count() == 3  # two spans of two words that share one
    lines = said.nth(1).evaluate("one => getComputedStyle(one).backgroundImage.split('gradient').length - 1")
    assert lines == 2, "a line for each who marked the word"
    page.locator("tr:has(button:text-is('yes')) [data-show]").uncheck()
    assert (chips.count(), said.count()) == (1, 3)
    for toggle in page.locator("[data-show]").all():
        toggle.uncheck()
    assert (chips.count(), said.count()) == (0, 0)
