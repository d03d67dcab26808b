"""What pages look like when there is nothing, much, an error, a pause: each state in each width, theme and language."""

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Campaign, Participation, Snapshot
from quality.dashboard.services import quality_numbers_refresh
from quality.models import QualitySnapshot
from tests import factories
from tests.axe import DESKTOP, PHONE, assert_accessible
from tests.workforces.acts import by_link
from tests.workforces.link.panel import link

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Three pairs of looks that hold all pairs of a width, a theme and a language; each state meets both of one pair.
LOOKS = [
    ((PHONE, "dark", "zh-hans"), (DESKTOP, "light", "en")),
    ((PHONE, "light", "en"), (DESKTOP, "dark", "zh-hans")),
    ((PHONE, "dark", "en"), (DESKTOP, "light", "zh-hans")),
]
MANAGED = [
    "",
    "items/",
    "import/",
    "pilot/",
    "members/",
    "questions/",
    "settings/",
    "activity/",
    "jobs/",
    "review/",
    "summary/",
    "annotators/",
    "releases/",
    "leaderboards/",
]


class Scene:
    """A campaign in some state, with a manager and an annotator."""

    def __init__(self, items=0, **options):
        self.campaign = factories.campaign(items=items, n=2, **options)
        self.manager, self.person = factories.user(), factories.annotator(self.campaign)
        factories.join(self.campaign, self.manager, Role.MANAGER)
        self.base, self.work = f"/campaigns/{self.campaign.slug}/", f"/work/{self.campaign.slug}/"

    def managed(self, *paths):
        return [(self.manager, self.base + path) for path in paths]

    def compute(self):
        for refresh in (numbers_refresh, quality_numbers_refresh):
            refresh(campaign=self.campaign, now=timezone.now())


def empty():
    scene = Scene()
    return [
        *scene.managed(*MANAGED),
        (scene.manager, "/"),
        (scene.person, "/"),
        (scene.person, scene.work),
        (scene.person, scene.work + "recent/"),
        (scene.person, scene.work + "questions/"),
    ]


def uncounted():
    """What there is before a job has computed the numbers."""
    scene = Scene(items=2)
    Snapshot.objects.all().delete()
    QualitySnapshot.objects.all().delete()
    return scene.managed("", "summary/", "annotators/", "behavior/")


def full():
    scene = Scene(items=60)
    guideline_publish(campaign=scene.campaign, body="Anew.", actor_id=None, now=timezone.now())
    for _ in range(3):
        for kind in ({"box": 0, "kind": "yes"}, {"label": "bad"}):
            factories.question(factories.annotate(scene.campaign, scene.person, **kind).item, scene.person)
    scene.compute()
    return [
        *scene.managed(
            "", "items/", "items/?sort=-id&columns=id&columns=question", "questions/", "annotators/", "activity/"
        ),
        (scene.person, scene.work + "questions/"),
        (scene.manager, "/"),
    ]


def paused():
    scene = Scene(items=2)
    Campaign.objects.update(state="paused")
    return [*scene.managed(""), (scene.person, scene.work), (scene.person, "/")]


def closed():
    scene = Scene(items=2)
    Campaign.objects.update(state="closed")
    return [*scene.managed("", "settings/"), (scene.person, scene.work), (scene.person, "/")]


def suspended():
    scene = Scene(items=2)
    Participation.objects.update_or_create(
        campaign=scene.campaign, surrogate_id=scene.person.surrogate_id, defaults={"standing": "suspended"}
    )
    scene.compute()
    return [
        (scene.person, "/"),
        (scene.person, scene.work),
        (scene.person, f"{scene.base}standing/"),
        *scene.managed(f"annotators/{scene.person.surrogate_id}/", "annotators/"),
    ]


STATES = [empty, uncounted, full, paused, closed, suspended]


def see(open_browser, person, look):
    view, theme, language = look
    watched = open_browser(person, color_scheme=theme, **view)
    watched.context.add_cookies([{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": watched.base}])
    return watched


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("state", STATES)
def test_pages_in_each_state_are_accessible_and_clean(open_browser, state, which):
    look = LOOKS[STATES.index(state) % len(LOOKS)][which]
    browsers = {}
    for person, path in state():
        watched = browsers.get(person.pk) or browsers.setdefault(person.pk, see(open_browser, person, look))
        watched.go(path)
        assert_accessible(watched.page, f"{state.__name__} {path} {look[1:]}")


@pytest.mark.parametrize("look", LOOKS[1], ids=["phone", "desktop"])
def test_errors_of_forms_are_accessible(open_browser, look):
    scene = Scene(items=1)
    boss = factories.user(is_admin=True)
    watched = see(open_browser, boss, look)
    watched.go("/campaigns/new/")
    watched.page.fill("[name=title]", "港口")  # of which no short name can be made
    for name in ("splits", "purpose", "contact"):
        watched.page.fill(f"[name={name}]", "train")
    watched.page.click("main form .buttons > button.primary")
    watched.page.wait_for_selector(".errorlist")
    assert watched.page.locator(".errorlist").count() >= 2
    assert_accessible(watched.page, "a wrong form")
    watched.go(scene.base + "items/?q=nothing+like+it")
    assert_accessible(watched.page, "nothing found")
    watched.go("/campaigns/nowhere/")
    assert_accessible(watched.page, "not there")


def test_choosing_a_task_type_brings_its_defaults_and_keeps_what_was_written(open_browser):
    watched = see(open_browser, factories.user(is_admin=True), LOOKS[0][1])
    page = watched.page
    watched.go("/campaigns/new/")
    assert page.input_value("[name=splits]").startswith("train 1 8")
    page.select_option("[name=task_type]", "antique")
    page.wait_for_function("() => document.querySelector('[name=splits]').value.startsWith('train 3')")
    page.fill("[name=splits]", "mine 7 1")
    page.select_option("[name=task_type]", "nq")
    page.wait_for_function("() => document.querySelector('[name=seconds]').value === '80'")
    assert page.input_value("[name=splits]") == "mine 7 1"


@pytest.mark.parametrize("look", LOOKS[2], ids=["phone", "desktop"])
def test_the_desk_without_a_connection_is_accessible(open_browser, look):
    scene = Scene(items=2)
    watched = see(open_browser, scene.person, look)
    watched.expected = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "htmx:")
    page = watched.page
    watched.go(scene.work)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=question]")
    page.wait_for_load_state()
    watched.context.set_offline(True)
    page.keyboard.press("2")
    page.wait_for_function("() => document.querySelector('#problem')?.textContent.trim()")
    assert page.locator("[data-stage=question]").is_visible()
    watched.context.set_offline(False)
    page.wait_for_function("() => !document.querySelector('#problem')?.textContent.trim()")
    assert_accessible(page, "connected again")


@pytest.mark.parametrize("look", LOOKS[0], ids=["phone", "desktop"])
def test_a_change_of_the_guidelines_is_read_by_keyboard(open_browser, look):
    scene = Scene(items=3)
    watched = see(open_browser, scene.person, look)
    page = watched.page
    watched.go(scene.work)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=question]")
    page.wait_for_load_state()
    guideline_publish(
        campaign=scene.campaign, body="# Anew\n\nAll of it.", note="注意：全部改写。", actor_id=None, now=timezone.now()
    )
    page.keyboard.press("2")
    page.wait_for_selector(".changes ins")
    assert "注意" in page.inner_text("main")
    assert_accessible(page, "guidelines have changed")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-stage=question]")


def test_without_a_connection_the_answer_of_a_visit_waits_on_the_page(open_browser):
    row = link(factories.antique(items=2, n=1))
    watched = open_browser(None)
    watched.expected = ("ERR_INTERNET_DISCONNECTED", "ERR_FAILED")
    page = watched.page
    watched.go(by_link(row, "p", "s"))
    page.get_by_role("button", name="I agree").click()
    page.wait_for_selector("[data-stage=relevance]")
    page.wait_for_load_state()
    first = page.get_attribute("[data-stage]", "data-assignment")
    watched.context.set_offline(True)
    page.keyboard.press("4")
    page.wait_for_selector("#problem:has-text('No connection')")
    watched.context.set_offline(False)
    page.wait_for_selector(f"[data-stage=relevance]:not([data-assignment='{first}'])")
    assert Annotation.objects.get().answer["label"] == 4
