"""A change of the guidelines is shown before the next item, as what changed, and acknowledged once."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.differences import Part, changed_paragraphs
from annotation.campaigns.selectors.campaigns import guideline_readers
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.models import Annotation, Participation
from quality.dashboard.selectors.agreement import agreement_of
from quality.dashboard.services import quality_numbers_refresh
from tests import factories
from tests.workforces.acts import by_link, path
from tests.workforces.link.panel import come, link, work

pytestmark = pytest.mark.django_db
PART = {"HTTP_HX_REQUEST": "true"}


def publish(campaign, body, note=""):
    return guideline_publish(campaign=campaign, body=body, note=note, actor_id=None, now=timezone.now())


@pytest.fixture
def at_work():
    """A campaign with guidelines of two paragraphs, and the client of an annotator who has begun."""
    campaign = factories.antique(items=3)
    publish(campaign, "Read the question twice.\n\nThen choose a label.")
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    client.post(f"/work/{campaign.slug}/")
    return campaign, person, client


def answer(campaign, person, client, label=3):
    """Answer the item in hand as the desk does and return the piece of a page that comes back."""
    assignment = factories.claim(campaign, person)
    sent = {"stage": "relevance", "label": label, "version": assignment.draft_version}
    return client.post(f"/assignments/{assignment.pk}/stage/", sent, **PART).content.decode()


def test_a_change_comes_before_the_next_item_and_is_shown_once(at_work):
    campaign, person, client = at_work
    publish(campaign, "Read the question three times.\n\nThen choose a label.", note="Take your time.")
    assert "The guidelines have changed" in answer(campaign, person, client)
    page = client.get(f"/work/{campaign.slug}/").content.decode()  # also after loading the page again
    assert "Take your time." in page
    assert "<del>twice</del><ins>three times</ins>" in page
    assert "Then choose a label" not in page
    version = campaign.guidelines.order_by("-version").first().version
    piece = client.post(f"/work/{campaign.slug}/guidelines/read/", {"version": version}, **PART).content.decode()
    assert "The guidelines have changed" not in piece
    assert "data-stage" in piece  # the item that was held meanwhile
    assert "The guidelines have changed" not in answer(campaign, person, client)


def test_who_begins_now_reads_the_guidelines_as_they_are(at_work):
    campaign, _person, _client = at_work
    publish(campaign, "All new.")
    newcomer, client = factories.annotator(campaign), Client()
    client.force_login(newcomer)
    assert "The guidelines have changed" not in client.post(f"/work/{campaign.slug}/", **PART).content.decode()
    publish(campaign, "All new again.")
    assert "The guidelines have changed" in answer(campaign, newcomer, client)


def test_two_changes_are_read_at_once_and_one_that_came_meanwhile_is_read_next(at_work):
    campaign, person, client = at_work
    publish(campaign, "One.", note="First.")
    seen = publish(campaign, "Two.", note="Second.")
    publish(campaign, "Three.", note="Third.")
    page = answer(campaign, person, client)
    assert page.index("First.") < page.index("Second.") < page.index("Third.")
    piece = client.post(
        f"/work/{campaign.slug}/guidelines/read/", {"version": seen.version}, follow=True
    ).content.decode()
    assert "Third." in piece and "Second." not in piece


@pytest.mark.parametrize("version", ["", "x", "99", "-1", "9" * 40])
def test_a_version_that_never_was_is_not_read(at_work, version):
    campaign, person, client = at_work
    before = Participation.objects.get(campaign=campaign, surrogate_id=person.surrogate_id).guideline_id
    assert client.post(f"/work/{campaign.slug}/guidelines/read/", {"version": version}).status_code == 302
    assert Participation.objects.get(campaign=campaign, surrogate_id=person.surrogate_id).guideline_id == before


def test_managers_see_how_many_have_read_the_guidelines(at_work):
    campaign, person, client = at_work
    manager, boss = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    boss.force_login(manager)
    assert guideline_readers(campaign.guidelines.order_by("-version")[0]) == (1, 1)
    boss.post(f"/campaigns/{campaign.slug}/guidelines/", {"body": "New.", "note": "All of it."})
    assert campaign.guidelines.order_by("-version").first().note == "All of it."
    assert "0 of 1 annotators have read" in boss.get(f"/campaigns/{campaign.slug}/guidelines/").content.decode()


def test_paragraphs_that_stayed_are_left_out_and_words_that_changed_are_marked():
    before = "# Title\n\nA long answer is a box.\n\nGone."
    after = "# Title\n\nA long answer is one box.\n\nHere is something else entirely."
    assert changed_paragraphs(before, after) == [
        [Part("", "A long answer is "), Part("del", "a"), Part("ins", "one"), Part("", " box.")],
        [Part("del", "Gone.")],
        [Part("ins", "Here is something else entirely.")],
    ]
    assert changed_paragraphs(before, before.replace("\n", "\r\n")) == []
    assert changed_paragraphs("", "New.") == [[Part("ins", "New.")]]
    assert changed_paragraphs("", "## A **new** rule") == [[Part("ins", "A new rule")]]


def test_a_word_is_put_into_chinese_text():
    assert changed_paragraphs("选择包含答案的段落。", "选择包含完整答案的段落。") == [
        [Part("", "选择包含"), Part("ins", "完整"), Part("", "答案的段落。")]
    ]


def test_agreement_is_shown_for_each_version_of_the_guidelines():
    campaign = factories.antique(items=4, n=2)
    people = [factories.annotator(campaign) for _ in range(2)]
    published = publish(campaign, "Anew.")
    items = list(campaign.items.order_by("pk"))
    for number, person in enumerate(people):
        for _ in items:  # they agree on the first two
            assignment = factories.claim(campaign, person)
            place = items.index(assignment.item)
            factories.submit(factories.label(assignment, [1, 4, 1 + 3 * number, 4 - 3 * number][place]))
    Annotation.objects.update(guideline=campaign.guidelines.get(version=1))
    assert agreement_of(campaign)["agreement"][0]["by_guideline"] == []  # one version was answered under
    late = Annotation.objects.filter(item__in=items[2:])
    late.update(guideline=published)
    first, second = agreement_of(campaign)["agreement"][0]["by_guideline"]
    assert (first["version"], first["units"], first["alpha"]) == (1, 2, 1.0)
    assert (second["version"], second["units"]) == (published.version, 2)
    assert second["alpha"] < 0
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    assert (
        f"Guidelines version {published.version}" in client.get(f"/campaigns/{campaign.slug}/summary/").content.decode()
    )
    one = Annotation.objects.filter(item=items[0]).first()
    Annotation.objects.filter(pk=one.pk).update(guideline=published)  # an item answered under both is in neither
    assert agreement_of(campaign)["agreement"][0]["by_guideline"][0]["units"] == 1


def test_a_visitor_of_a_panel_reads_a_change_before_their_next_item():
    row = link(factories.antique(items=6, n=1), items_per_ticket=3)
    client, page = come(by_link(row, "p", "s1"))
    version = re.search(r'name="version" value="(\d+)"', page.content.decode()).group(1)
    publish(row.campaign, "All new.", note="Be careful.")
    sent = {"stage": "relevance", "version": version, "label": "4"}
    page = client.post(path(page, "answer"), sent, follow=True)
    assert "Be careful." in page.content.decode() and "/answer/" not in page.content.decode()
    newest = row.campaign.guidelines.order_by("-version").first().version
    address = re.search(r'action="([^"]+/guidelines/)"', page.content.decode()).group(1)
    page = client.post(address, {"version": newest}, follow=True)
    assert "/answer/" in page.content.decode()
    assert guideline_readers(row.campaign.guidelines.order_by("-version")[0]) == (1, 1)
    assert "Be careful." not in work(client, page).content.decode()
