"""Two tabs, answers opened again, undo after a reload, and what says that a person left."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Assignment
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    """Return a campaign of three items, its annotator, and their client."""
    campaign = factories.antique(items=3, n=1)
    person = factories.annotator(campaign)
    client = Client()
    client.force_login(person)
    return campaign, person, client


def answer(client, assignment, label):
    sent = {"stage": "relevance", "label": str(label), "version": assignment.draft_version}
    return client.post(reverse("stage", args=[assignment.pk]), sent, headers={"HX-Request": "true"})


def test_another_answer_to_an_item_that_another_tab_handed_in_is_not_taken_silently(desk):
    campaign, person, client = desk
    assignment = factories.claim(campaign, person)
    assert answer(client, assignment, 4).status_code == 200
    other = answer(client, assignment, 2)
    assert other.status_code == 409
    assert "a different answer for this item in another tab" in other.content.decode()
    assert Annotation.objects.get().answer["label"] == 4
    assert answer(client, assignment, 4).status_code == 200  # the same once more: a double click


def test_stages_that_another_tab_skipped_are_no_silent_next_item():
    campaign = factories.campaign(items=2)
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    assignment = factories.claim(campaign, person)
    stage = reverse("stage", args=[assignment.pk])
    client.post(stage, {"stage": "question", "label": "good", "version": 0}, headers={"HX-Request": "true"})
    version = Assignment.objects.get(pk=assignment.pk).draft_version
    none, box = ({"stage": "long_answer", "candidate_index": index, "version": version} for index in (-1, 0))
    assert client.post(stage, none, headers={"HX-Request": "true"}).status_code == 200
    assert client.post(stage, box, headers={"HX-Request": "true"}).status_code == 409
    assert client.post(stage, none, headers={"HX-Request": "true"}).status_code == 200


def test_an_item_that_was_given_back_for_another_one_says_so(desk):
    campaign, person, client = desk
    done = factories.vote(campaign, person, 4)
    in_hand = factories.claim(campaign, person)
    client.post(reverse("recent", args=[campaign.slug]), {"annotation": done.pk})
    said = answer(client, in_hand, 1)
    assert said.status_code == 410
    assert "You opened another item" in said.content.decode()


def test_the_last_answer_can_be_taken_back_after_a_reload(desk):
    campaign, person, client = desk
    page = reverse("work", args=[campaign.slug])
    factories.claim(campaign, person)
    assert "Undo last answer" not in client.get(page).content.decode()
    factories.submit(factories.label(Assignment.objects.get(state="live"), 3))
    client.post(page)
    assert "Undo last answer" in client.get(page).content.decode()
    client.post(reverse("undo", args=[campaign.slug]))
    again = client.get(page).content.decode()
    assert "Undo last answer" not in again
    assert "You reopened this item. Your previous answer: 3" in again


def test_an_answer_opened_again_says_what_it_was_at_every_stage():
    campaign = factories.campaign(items=2)
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    done = factories.annotate(campaign, person, box=-1)
    client.post(reverse("recent", args=[campaign.slug]), {"annotation": done.pk})
    page = client.get(reverse("work", args=[campaign.slug])).content.decode()
    assert 'data-stage="long_answer"' in page
    assert "You reopened this item. Your previous answer: good" in page
    assignment = Assignment.objects.get(state="live")
    sent = {"stage": "long_answer", "candidate_index": 0, "version": assignment.draft_version}
    page = client.post(reverse("stage", args=[assignment.pk]), sent, headers={"HX-Request": "true"}).content.decode()
    assert 'data-stage="short_answer"' in page
    assert "Your previous answer: good" in page


def test_who_left_reads_so_wherever_they_look(desk):
    campaign, person, client = desk
    factories.vote(campaign, person, 4)
    client.post(reverse("leave", args=[campaign.slug]))
    home = client.get("/").content.decode()
    assert "You've withdrawn your consent." in home
    assert "Cancel the withdrawal" in home
    assert "Start labeling" not in home and "Check for new items" not in home
    assert "Reopen" not in client.get(reverse("recent", args=[campaign.slug])).content.decode()
    assert "You've withdrawn your consent." in client.get(reverse("consent", args=[campaign.slug])).content.decode()
    client.post(reverse("leave", args=[campaign.slug]), {"undo": "1"})
    assert "You've withdrawn your consent." not in client.get("/").content.decode()
    assert "Reopen" in client.get(reverse("recent", args=[campaign.slug])).content.decode()
