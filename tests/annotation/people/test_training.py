"""The training round: answered by label or by the flowchart, and the way from consent to the first item."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts.selectors import consent_text_current
from annotation.models import Campaign, Participation, TrainingExample
from annotation.tasktypes.antique.answers import WAYS
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def newcomer():
    """A campaign with a training round, and the client of an annotator who has just agreed."""
    campaign = factories.antique(items=2, has_training=True)
    person, client = factories.user(), Client()
    factories.join(campaign, person)
    client.force_login(person)
    text = consent_text_current(campaign.pk)
    return campaign, person, client, client.post(f"/work/{campaign.slug}/consent/", {"text": text.pk}, follow=True)


def test_an_example_is_answered_by_the_flowchart_as_by_a_label(newcomer):
    campaign, _person, client, _page = newcomer
    label = TrainingExample.objects.get(campaign=campaign, position=0).content["label"]
    way = next(way for way, leads_to in WAYS.items() if leads_to == label)
    wrong = next(way for way, leads_to in WAYS.items() if leads_to != label)
    address = f"/work/{campaign.slug}/training/"
    assert f"Correct: label {label}" in client.post(address, {"number": 1, "way": way}).content.decode()
    assert f"Your answer: {WAYS[wrong]}." in client.post(address, {"number": 1, "way": wrong}).content.decode()
    assert f"Correct: label {label}" in client.post(address, {"number": 1, "label": label}).content.decode()


@pytest.mark.parametrize("sent", [{}, {"way": "nonsense"}, {"label": "x" * 400}, {"way": "n", "label": "4"}])
def test_an_answer_that_is_none_goes_on_all_the_same(newcomer, sent):
    campaign, _person, client, _page = newcomer
    page = client.post(f"/work/{campaign.slug}/training/", {"number": 1, **sent})
    assert page.status_code == 200
    assert "Expected answer" in page.content.decode()


def test_who_comes_while_nothing_is_open_hears_it_before_the_examples(newcomer):
    campaign, _person, client, page = newcomer
    assert "No items are open right now" not in page.content.decode()
    for one in [factories.annotator(campaign) for _ in range(3)]:
        Participation.objects.get_or_create(campaign=campaign, surrogate_id=one.surrogate_id)
        Participation.objects.filter(surrogate_id=one.surrogate_id).update(trained_at=timezone.now())
        factories.vote(campaign, one, 4)
        factories.vote(campaign, one, 4)
    assert "No items are open right now" in client.get(f"/work/{campaign.slug}/training/").content.decode()


def test_consent_leads_to_the_training_and_its_end_to_the_first_item(newcomer):
    campaign, person, client, page = newcomer
    assert page.request["PATH_INFO"] == f"/work/{campaign.slug}/training/"
    examples = TrainingExample.objects.filter(campaign=campaign).count()
    for number in range(1, examples + 1):
        page = client.post(f"/work/{campaign.slug}/training/", {"number": number, "label": 4})
    assert f'<form method="post" action="/work/{campaign.slug}/"' in page.content.decode()
    assert Participation.objects.get(campaign=campaign, surrogate_id=person.surrogate_id).trained_at
    assert "data-stage" in client.post(f"/work/{campaign.slug}/", follow=True).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("standing", "suspended", "Read the reason and your options"), ("submitted", 9, "You've reached your item limit")],
)
def test_who_gets_no_work_reads_why_at_once_and_no_start(field, value, says):
    campaign = factories.antique(items=2, quota=9)
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    page = client.get(f"/work/{campaign.slug}/").content.decode()
    assert "Start" in page and says not in page
    Participation.objects.update_or_create(campaign=campaign, surrogate_id=person.surrogate_id, defaults={field: value})
    page = client.get(f"/work/{campaign.slug}/").content.decode()
    assert says in page and "Start <kbd>" not in page


def test_who_comes_to_a_closed_campaign_is_not_told_to_look_again():
    campaign = factories.antique(items=2)
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    Campaign.objects.update(state="closed")
    page = client.get(f"/work/{campaign.slug}/").content.decode()
    assert "This campaign is closed" in page and "Check for new items" not in page
