"""Nothing typed is lost: whatever becomes of the session, the connection or the night, the same words arrive once."""

import re
import time
from contextlib import contextmanager

import pytest
from django.contrib.sessions.models import Session

from accounts.models import ConsentText
from annotation.models import Annotation, Assignment, Campaign, Guideline
from tests import factories, writing
from tests.browser.test_desk import to_boxes

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PASSWORD = "correct horse battery"


def log_in_by_form(page, person):
    page.fill("[name=login]", person.email)
    page.fill("[name=password]", PASSWORD)
    page.click("main form .primary")


@contextmanager
def elsewhere(watched):
    """Give another tab of the same browser."""
    tab = watched.context.new_page()
    tab.goto(f"{watched.base}/")
    yield tab
    tab.close()


def log_out(tab):
    tab.click("form[action$='/logout/'] button")
    tab.wait_for_url("**/login/**")


def says(page, when):
    page.wait_for_selector(f"#session-says [data-when={when}]", state="visible")


class LoggedInAgain:
    """They log out in another tab, and in again, before this one sends anything."""

    def breaks(self, watched, person):
        with elsewhere(watched) as tab:
            log_out(tab)
            log_in_by_form(tab, person)
            tab.wait_for_selector("form[action$='/logout/']")

    def mends(self, watched, person):
        """Nobody has to do anything."""


class SomebodyElse(LoggedInAgain):
    """Another person logs in, finds nothing of the first one's, and leaves."""

    def breaks(self, watched, person):
        stranger = factories.user()
        with elsewhere(watched) as tab:
            log_out(tab)
            log_in_by_form(tab, stranger)
            tab.wait_for_selector("form[action$='/logout/']")

    def mends(self, watched, person):
        says(watched.page, "other")
        with elsewhere(watched) as tab:
            log_out(tab)
            log_in_by_form(tab, person)
            tab.wait_for_selector("form[action$='/logout/']")


class Expired(LoggedInAgain):
    """The session ended; they log in again in this tab, by the link that the page shows."""

    def breaks(self, watched, person):
        Session.objects.all().delete()

    def mends(self, watched, person):
        says(watched.page, "out")
        watched.page.click("#session-says [data-when=out] a")
        log_in_by_form(watched.page, person)


class Restarted(LoggedInAgain):
    """The server is away for a moment."""

    def breaks(self, watched, person):
        watched.expected = (*watched.expected, "ERR_", "htmx:")
        watched.context.set_offline(True)

    def mends(self, watched, person):
        watched.context.set_offline(False)


class Asleep(LoggedInAgain):
    """A laptop sleeps for a night: no connection, then no session; they log in in another tab."""

    def breaks(self, watched, person):
        watched.expected = (*watched.expected, "ERR_", "htmx:")
        watched.context.set_offline(True)
        Session.objects.all().delete()

    def mends(self, watched, person):
        watched.context.set_offline(False)
        says(watched.page, "out")
        with elsewhere(watched) as tab:
            log_in_by_form(tab, person)
            tab.wait_for_selector("form[action$='/logout/']")


SCENES = [LoggedInAgain, SomebodyElse, Expired, Restarted, Asleep]


class Boxes:
    """Stage 2: a box is chosen before, and used after."""

    def begin(self, at_work):
        watched, person = at_work(factories.campaign(items=1))
        to_boxes(watched.page)
        return watched, person

    def type(self, page):
        page.keyboard.press("j")
        page.wait_for_selector(".is-current")

    def send(self, page):
        page.keyboard.press("Enter")

    def arrived(self):
        return Assignment.objects.get().draft.get("long_answer", {}).get("candidate_index") == 0


class Spans(Boxes):
    """Stage 3: a span is marked, and the answer submitted."""

    def begin(self, at_work):
        watched, person = super().begin(at_work)
        super().type(watched.page)
        watched.page.keyboard.press("Enter")
        watched.page.wait_for_selector("[data-stage=short_answer]")
        return watched, person

    def type(self, page):
        for key in ("ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        page.wait_for_selector("[data-spans] li")

    def send(self, page):
        page.keyboard.press("d")

    def arrived(self):
        return [len(row.answer["short_answer"]["spans"]) for row in Annotation.objects.all()] == [1]


class Labels(Boxes):
    """The relevance desk: one press is the answer."""

    def begin(self, at_work):
        campaign = factories.antique(items=1, n=1)
        return self.at_desk(at_work, campaign)

    def at_desk(self, at_work, campaign):
        watched, person = at_work.opened(campaign)
        return watched, person

    def type(self, page):
        """There is nothing to type before."""

    def send(self, page):
        page.keyboard.press("3")

    def arrived(self):
        return [row.answer["label"] for row in Annotation.objects.all()] == [3]


class Question(Labels):
    """A question that is written."""

    def begin(self, at_work):
        return self.at_desk(at_work, writing.campaign("kbqa", options={"review": False, "recovery": False}))

    def type(self, page):
        page.fill("[data-text]", "高等数学这本书的作者究竟是谁?")

    def send(self, page):
        page.press("[data-text]", "Control+Enter")

    def arrived(self):
        return [row.answer["question"] for row in Annotation.objects.all()] == ["高等数学这本书的作者究竟是谁?"]


class Guidelines(Boxes):
    """A manager's long form."""

    text = "A new rule: **every** harbour counts.\n\n" + "It goes on and on. " * 40

    def begin(self, at_work):
        campaign, manager = factories.campaign(), factories.user()
        factories.join(campaign, manager, "manager")
        watched = at_work.open_browser(manager)
        watched.go(f"/campaigns/{campaign.slug}/guidelines/")
        return watched, manager

    def type(self, page):
        page.fill("main textarea", self.text)

    def send(self, page):
        page.click("main form:has(textarea) button.primary")

    def arrived(self):
        texts = Guideline.objects.order_by("-version").values_list("body", flat=True)
        return texts[0].replace("\r\n", "\n").strip() == self.text.strip()


class NewCampaign(Boxes):
    """An administrator's longest form, whose preview is sent while it is filled in."""

    fields = {
        "title": "Lighthouses",
        "slug": "lighthouses",
        "purpose": "To learn what keepers knew. " * 20,
        "contact": "a@example.org",
    }

    def begin(self, at_work):
        boss = factories.user(is_admin=True)
        watched = at_work.open_browser(boss)
        watched.go("/campaigns/new/")
        return watched, boss

    def type(self, page):
        for name, text in self.fields.items():
            page.fill(f"main [name={name}]", text)

    def send(self, page):
        page.click("main form.making button.primary")

    def arrived(self):
        made = Campaign.objects.filter(slug=self.fields["slug"]).values_list("title", flat=True)
        said = ConsentText.objects.values_list("purpose", flat=True)
        return [*made, *map(str.strip, said)] == [self.fields["title"], self.fields["purpose"].strip()]


@pytest.fixture
def desks(at_work, open_browser):
    """Return what opens the desk of any campaign, at its first stage."""

    def opened(campaign):
        person = factories.annotator(campaign)
        watched = open_browser(person)
        watched.go(f"/work/{campaign.slug}/")
        watched.page.keyboard.press("Enter")
        watched.page.wait_for_selector("[data-stage]")
        watched.page.wait_for_load_state()
        return watched, person

    at_work.opened, at_work.open_browser = opened, open_browser
    return at_work


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("desk", [Boxes, Spans, Labels, Question, Guidelines, NewCampaign])
def test_what_was_typed_arrives_once_whatever_happens_to_the_session(desks, desk, scene):
    desk, scene = desk(), scene()
    watched, person = desk.begin(desks)
    page = watched.page
    scene.breaks(watched, person)
    desk.type(page)
    desk.send(page)
    scene.mends(watched, person)
    until = time.monotonic() + 40
    while not desk.arrived() and time.monotonic() < until:
        if isinstance(scene, Expired) and page.locator(".callout button").count():
            desk.send(page)  # it is there again, and its author sends it
        page.wait_for_timeout(100)
    assert desk.arrived()
    page.wait_for_timeout(300)
    assert desk.arrived()  # once
    page.wait_for_function(  # the page may still be on its way to the next one
        "() => !Object.keys(sessionStorage).some((key) => key.startsWith('quorate:unsent'))"
    )


def test_another_person_in_the_same_tab_finds_nothing_of_the_first_one(desks):
    desk = Guidelines()
    watched, _ = desk.begin(desks)
    page = watched.page
    desk.type(page)
    Session.objects.all().delete()
    desk.send(page)
    says(page, "out")
    other = factories.user()
    factories.join(Guideline.objects.latest("pk").campaign, other, "manager")
    page.click("#session-says [data-when=out] a")
    log_in_by_form(page, other)
    page.wait_for_selector("main textarea")
    assert "A new rule" not in page.input_value("main textarea")
    assert page.locator(".callout button").count() == 0


def test_without_scripts_a_form_is_given_back_and_one_press_sends_it(open_browser):
    campaign, manager = factories.campaign(), factories.user()
    factories.join(campaign, manager, "manager")
    watched = open_browser(manager, java_script_enabled=False)
    watched.go(f"/campaigns/{campaign.slug}/guidelines/")
    page = watched.page
    page.fill("main textarea", Guidelines.text)
    LoggedInAgain().breaks(watched, manager)
    page.click("main form:has(textarea) button.primary")
    assert re.search("send the input again", page.inner_text("main"))
    page.click("main form .primary")
    assert Guidelines().arrived()
