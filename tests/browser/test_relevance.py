"""People and their browsers: a ticket in the frame across sites, a visit by a link, and the manager's decisions."""

import re

import pytest
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation, Participation
from annotation.people.services.training import training_create
from quality.models import Case, Flag, Inspection, Review, Verdict
from quality.policies.policy import Policy
from tests import factories
from tests.axe import assert_accessible
from tests.browser.watched import Watched
from tests.workforces.conftest import desk, market  # noqa: F401  fixtures
from workforces.models import Appeal, Errand, Ticket
from workforces.services.workforces import workforce_add

# For a key that takes a frame to its next page: Playwright would wait for that page, and sometimes misses its arrival.
LEAVES = {"no_wait_after": True}
pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def at_market(whole_browser, desk):  # noqa: F811
    """Return a function that opens a browser at the marketplace as a new worker who has logged in."""
    opened = []

    def open_as(made, name, **options):
        site, cookie = made.market.worker(f"{name}-{made.campaign.slug}@example.org")
        watched = Watched(whole_browser, site, expected=("can escape its sandboxing",), **options)
        opened.append(watched)
        watched.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": site}])
        watched.go("/")
        return watched

    yield open_as
    for watched in opened:
        watched.close()


def trained(made):
    """Give a campaign two training examples."""
    from django.db import transaction

    from annotation.models import Campaign, TrainingExample

    with transaction.atomic():
        training_create(campaign=made.campaign)
    TrainingExample.objects.filter(campaign=made.campaign, position__gte=2).delete()
    Campaign.objects.filter(pk=made.campaign.pk).update(has_training=True)


@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}])
def test_a_worker_does_a_ticket_in_the_frame_by_keyboard_and_flowchart(desk, at_market, size):  # noqa: F811
    made = desk(items=1, n=1, sign=True)
    trained(made)
    made.round()
    worker = at_market(made, "kim", viewport=size)
    page = worker.page
    page.get_by_role("link", name=re.compile("Preview")).first.click()
    preview = page.frame_locator("iframe")
    preview.get_by_text("This is a preview with a sample").wait_for()
    assert not Ticket.objects.exists()
    page.get_by_role("button", name="Accept").first.click()
    frame = page.frame_locator("#frame")
    frame.get_by_role("button", name="I agree").wait_for()
    assert not Participation.objects.exists()  # nothing is known of anyone before consent
    frame.get_by_role("button", name="I agree").press("Enter", **LEAVES)
    frame.get_by_role("link", name="Begin with the examples").first.press("Enter", **LEAVES)
    inner = page.frame(url=re.compile("/visit/"))
    inner.wait_for_selector("[aria-current=step]")  # the scripts are there
    frame.locator("#question").press("2")
    frame.get_by_role("link", name="Next example").press("Enter", **LEAVES)
    inner.wait_for_selector("[aria-current=step]")
    frame.locator("#question").press("y")
    frame.locator("[aria-current=step] [data-no]").press("n")
    frame.get_by_role("link", name="Go to the first item").press("Enter", **LEAVES)
    inner.wait_for_selector("[aria-current=step]")
    frame.get_by_text("How do you repair thing number 0?").wait_for()
    assert inner.evaluate("document.cookie") == ""
    assert inner.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    frame.locator("#question").press("y")
    frame.locator("[aria-current=step] [data-yes]").press("y")
    frame.locator("[aria-current=step] [data-yes]").press("n")
    page.get_by_text(re.compile("no HITs of this kind|submitted|Nothing is open", re.IGNORECASE)).first.wait_for()
    annotation = Annotation.objects.get()
    assert (annotation.answer, annotation.state) == ({"label": 3, "way": "yyn"}, "provisional")
    made.round()
    annotation.refresh_from_db()
    assert annotation.state == "counted"
    assert Ticket.objects.get().is_signed
    assert not [cookie for cookie in worker.context.cookies() if cookie["domain"] == "localhost"]


def test_pages_in_the_frame_are_accessible(desk, open_browser):  # noqa: F811
    made = desk(items=1, n=1)
    trained(made)
    row = workforce_add(campaign=made.campaign, kind="link", actor_id=None, now=timezone.now(), terms=LINK)
    visitor = open_browser()
    page = visitor.page
    visitor.go(f"{row.path}")
    assert_accessible(page, page.url)
    visitor.go(f"{row.path}?PROLIFIC_PID=p1&SESSION_ID=s1")
    for click in ("I agree", "Begin with the examples"):
        assert_accessible(page, page.url)
        page.get_by_text(click).first.click()
        page.wait_for_load_state()
    for _ in range(2):
        assert_accessible(page, page.url)
        page.locator("[name=label]").first.click()
        page.wait_for_load_state()
        assert_accessible(page, page.url)
        page.locator("main a.primary").click()
        page.wait_for_load_state()
    assert_accessible(page, page.url)
    page.locator("[name=label]").first.click()
    page.get_by_text("Completion code").wait_for()
    assert_accessible(page, page.url)


LINK = {
    "code_completed": "DONE7",
    "code_screened_out": "OUT7",
    "code_nothing_left": "NONE7",
    "items_per_ticket": 2,
    "return_url": "http://localhost:1/back",
}


def test_someone_comes_by_a_link_on_a_phone_and_leaves_with_a_code(desk, open_browser):  # noqa: F811
    made = desk(items=3, n=1)
    row = workforce_add(campaign=made.campaign, kind="link", actor_id=None, now=timezone.now(), terms=LINK)
    visitor = open_browser(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = visitor.page
    visitor.go(f"{row.path}?PROLIFIC_PID=5f1&STUDY_ID=st&SESSION_ID=se")
    page.get_by_role("button", name="I agree").tap()
    for _ in range(2):
        page.wait_for_selector("[aria-current=step]")
        before = page.locator("#question").inner_text()
        page.locator("button.label").nth(1).tap()
        page.wait_for_function("before => document.querySelector('#question')?.innerText !== before", arg=before)
    page.get_by_text("DONE7").wait_for()
    assert (
        page.get_by_role("link", name="Back to the panel").get_attribute("href") == "http://localhost:1/back?cc=DONE7"
    )
    assert Annotation.objects.filter(state="provisional").count() == 2  # until the panel confirms the visit
    assert Ticket.objects.get().outcome == "completed"
    visitor.go(f"{row.path}?PROLIFIC_PID=5f1&STUDY_ID=st&SESSION_ID=se")
    page.get_by_text("DONE7").wait_for()  # coming back shows the same and gives no second share
    again = open_browser()
    again.go(f"{row.path}?PROLIFIC_PID=5f1&STUDY_ID=st&SESSION_ID=se")
    again.page.get_by_role("button", name="I agree").wait_for()  # anyone could have written this address


def careless_work(made):
    """Have a worker miss what is obvious three times, and be found out."""
    careless = made.worker("cal", says=1)
    for _ in range(3):
        assert careless.work() == "handed_in"
        made.round()
    factories.examine(made.campaign)
    assert Review.objects.get().state == "open"


def manager_and_expert(campaign):
    """Return a person who may decide everything."""
    boss = factories.user("boss")
    factories.waive(campaign, boss)
    factories.join(campaign, boss, Role.MANAGER)
    factories.join(campaign, boss, Role.EXPERT)
    return boss


def appeal(made, person):
    """Follow the address in the feedback of a refusal, and ask for another look."""
    ticket = Ticket.objects.filter(state="refused").first()
    feedback = made.client.get_assignment(AssignmentId=ticket.remote_id)["Assignment"]["RequesterFeedback"]
    person.go(re.search(r"/statement/\S+", feedback).group())
    assert_accessible(person.page, "statement")
    person.page.get_by_label("Why should a manager reconsider?").first.fill("I read it twice.")
    person.page.get_by_role("button", name="Appeal").first.click()
    person.page.get_by_text("Your appeal has been sent to the managers").wait_for()


def test_a_manager_decides_inspects_and_undoes(desk, open_browser):  # noqa: F811
    policy = Policy(gold_rate=0, gold_first=3, gold_first_items=3, inspection_rate=1.0)
    made = desk(items=3, gold=8, policy=policy, terms={"approve_after_seconds": 3600, "undo_seconds": 600})
    made.round()
    careless_work(made)
    Flag.objects.create(campaign=made.campaign, question_id="900000", created_at=timezone.now())
    desk_page = open_browser(manager_and_expert(made.campaign))
    page, slug = desk_page.page, made.campaign.slug
    desk_page.go(f"/campaigns/{slug}/review/")
    assert_accessible(page, page.url)
    page.get_by_label("Reason").fill("Missed what is obvious.")
    page.get_by_role("button", name="Suspend and refuse pay").click()
    page.get_by_text("Decisions not sent yet").wait_for()
    assert Errand.objects.filter(kind="reject", state="due").count() == 3
    page.get_by_role("button", name=re.compile("^Undo")).first.click()
    page.wait_for_load_state()
    assert Errand.objects.filter(kind="reject", state="due").count() == 2
    page.get_by_role("button", name="Add to the blacklist").click()
    page.wait_for_load_state()
    assert Flag.objects.get().is_listed
    Errand.objects.filter(kind="reject", state="due").update(due_at=timezone.now())
    made.round()
    appeal(made, open_browser())
    desk_page.go(f"/campaigns/{slug}/review/")
    page.get_by_role("button", name="Pay", exact=True).click()
    page.wait_for_load_state()
    assert Appeal.objects.get().state == "granted"
    made.round()
    assert Ticket.objects.get(pk=Appeal.objects.get().ticket_id).state == "approved"
    for name in ("quality", "workforces"):
        desk_page.go(f"/campaigns/{slug}/{name}/")
        assert_accessible(page, page.url)


def test_inspection_and_cases_take_one_key(desk, open_browser):  # noqa: F811
    made = desk(items=1, policy=Policy(inspection_rate=1.0))
    for _ in range(2):
        for label in (4, 3, 2):
            factories.vote(made.campaign, factories.annotator(made.campaign), label)
        factories.examine(made.campaign)
    boss = factories.user("boss")
    factories.waive(made.campaign, boss)
    factories.join(made.campaign, boss, Role.MANAGER)
    factories.join(made.campaign, boss, Role.EXPERT)
    opened = open_browser(boss)
    page = opened.page
    opened.go(f"/campaigns/{made.campaign.slug}/spot-checks/")
    assert_accessible(page, page.url)
    waiting = Inspection.objects.filter(verdict="").count()
    page.keyboard.press("1")
    page.wait_for_load_state()
    page.wait_for_function("() => document.readyState === 'complete'")
    opened.go(f"/campaigns/{made.campaign.slug}/cases/")
    assert Inspection.objects.filter(verdict="").count() == waiting - 1
    assert_accessible(page, page.url)
    assert Case.objects.get().state == "open"
    page.keyboard.press("3")
    page.get_by_text("No cases to judge").wait_for()
    assert (Verdict.objects.get().label, Verdict.objects.get().rule) == (3, "expert")


def test_on_a_phone_the_labels_are_in_reach_however_long_the_answer_is(open_browser):
    campaign = factories.antique(items=0, n=1)
    [pair] = factories.pairs(1)
    factories.import_rows(campaign, [{**pair, "answer": "and then it rained " * 200}])
    factories.launch(campaign)
    opened = open_browser(factories.annotator(campaign), viewport={"width": 390, "height": 740}, has_touch=True)
    page = opened.page
    opened.go(f"/work/{campaign.slug}/")
    page.get_by_role("button", name="Start").click()
    for button in page.locator(".button.label").all():
        box = button.bounding_box()
        assert box["y"] + box["height"] <= 740 and box["height"] >= 44
    page.locator(".flow li").last.scroll_into_view_if_needed()
    assert_accessible(page, "relevance on a phone")
    page.locator(".button.label").first.click()
    page.get_by_role("heading", name="All done").wait_for()
    assert Annotation.objects.get().answer["label"] == 4
