"""The list of items, by what is asked for."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.items.selectors import items_counted
from annotation.models import Batch, Item
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Return a campaign of two batches, of which one item is answered by one person and another by two."""
    made = factories.antique(items=3, n=2)
    factories.import_rows(made, factories.pairs(1, prefix="5"))
    factories.launch(made)
    return made


def listed(client, campaign, **asked):
    page = client.get(reverse("items", args=[campaign.slug]), asked)
    assert page.status_code == 200
    return {int(key) for key, _cells in page.context["table"].rows}


def member(client, campaign, role):
    person = factories.user()
    factories.join(campaign, person, role)
    client.force_login(person)


def test_a_manager_asks_by_batch_round_person_day_and_guidelines(client, campaign):
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    one = factories.vote(campaign, first, 4)
    guideline_publish(campaign=campaign, body="Anew.", actor_id=None, now=timezone.now())
    other = factories.vote(campaign, second, 4)
    member(client, campaign, Role.MANAGER)
    everything = set(Item.objects.filter(campaign=campaign).values_list("pk", flat=True))
    assert listed(client, campaign) == everything
    for batch in Batch.objects.filter(campaign=campaign):
        assert listed(client, campaign, batch=batch.ordinal) == set(batch.items.values_list("pk", flat=True))
    assert listed(client, campaign, round=1) == everything
    assert listed(client, campaign, round=2) == set()
    assert listed(client, campaign, person=first.surrogate_id) == {one.item_id}
    today = one.submitted_at.date()
    assert listed(client, campaign, day=today) == {one.item_id, other.item_id}
    assert listed(client, campaign, day=today - timedelta(days=1)) == set()
    assert listed(client, campaign, guideline=2, person=second.surrogate_id) == {other.item_id}
    assert listed(client, campaign, guideline=2, person=first.surrogate_id) == set()  # one answer has to be all of it


def test_each_item_says_how_many_of_its_annotations_are_done(client, campaign):
    member(client, campaign, Role.MANAGER)
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    item = factories.vote(campaign, first, 4).item
    page = client.get(reverse("items", args=[campaign.slug]))
    counts = {row.item.pk: (row.done, row.asked) for row in items_counted(campaign.items.all())}
    assert counts.pop(item.pk) == (1, 2) and set(counts.values()) == {(0, 2)}
    assert "1 of 2" in page.content.decode()
    others = listed(client, campaign, state="unfinished") - {item.pk}
    assert len(others) == 3
    while factories.vote(campaign, second, 4).item_id != item.pk:
        pass
    assert item.pk not in listed(client, campaign, state="unfinished")
    factories.import_rows(campaign, factories.pairs(1, prefix="6"))
    waiting = [(row.done, row.asked) for row in items_counted(campaign.items.filter(batch__state="draft"))]
    assert waiting == [(0, 2)]


@pytest.mark.parametrize("name", ["batch", "round", "person", "day", "guideline"])
@pytest.mark.parametrize("value", ["", "x", "-1", "9" * 400, "2026-02-30", "9999-12-31", "10000-01-01"])
def test_nonsense_asks_for_nothing(client, campaign, name, value):
    member(client, campaign, Role.MANAGER)
    assert len(listed(client, campaign, **{name: value})) in (0, 4)


def test_who_answered_what_is_for_those_who_see_answers(client, campaign):
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 4)
    member(client, campaign, Role.RESEARCHER)
    assert len(listed(client, campaign, person=person.surrogate_id)) == 4
    assert len(listed(client, campaign, day="2001-01-01")) == 4
    assert "Answered on" not in client.get(reverse("items", args=[campaign.slug])).content.decode()
