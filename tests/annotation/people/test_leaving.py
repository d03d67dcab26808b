"""The pages by which an annotator leaves a campaign, whatever became of their role."""

import pytest
from django.test import Client

from accounts.models import Membership
from annotation.models import Annotation, Assignment, EventChunk, ItemReport, Withdrawal
from annotation.people.services.withdrawal import GRACE, withdrawals_apply
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    return factories.antique(items=2, n=1)


def annotator(campaign):
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    factories.vote(campaign, person, 4)
    return person, client


def revoke(campaign, person):
    Membership.objects.filter(scope_id=campaign.pk, user=person).delete()


def test_who_lost_the_role_still_withdraws_and_takes_it_back(campaign, now):
    person, client = annotator(campaign)
    leave = f"/work/{campaign.slug}/leave/"
    assert client.get(f"/work/{campaign.slug}/").status_code == 200
    revoke(campaign, person)
    assert client.get(f"/work/{campaign.slug}/").status_code == 404
    assert leave in client.get("/").content.decode()
    assert client.get(leave).status_code == 200
    client.post(leave)
    assert Withdrawal.objects.get().surrogate_id == person.surrogate_id
    assert client.post(leave, {"undo": "1"}, follow=True).status_code == 200
    assert not Withdrawal.objects.exists()
    client.post(leave)
    withdrawals_apply(now + GRACE * 2)
    assert Annotation.objects.get().state == "withdrawn"
    assert client.get(leave).status_code == 404
    assert leave not in client.get("/").content.decode()


def test_who_lost_the_role_before_their_first_answer_withdraws_too(campaign):
    """What they agreed to, their click log and what they reported are theirs as well."""
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    factories.claim(campaign, person)
    revoke(campaign, person)
    leave = f"/work/{campaign.slug}/leave/"
    assert leave in client.get("/").content.decode()
    client.post(leave)
    assert Withdrawal.objects.get().surrogate_id == person.surrogate_id


def test_a_judgment_that_was_frozen_is_frozen_still_for_who_comes_back(now):
    """Else one could see the page first, and then judge the question again."""
    campaign = factories.campaign(items=1)
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    held = factories.claim(campaign, person)
    client.post(f"/assignments/{held.pk}/stage/", {"stage": "question", "version": "0", "label": "good"})
    first = Assignment.objects.get().draft["question"]["first"]
    client.post(f"/work/{campaign.slug}/leave/")
    client.post(f"/work/{campaign.slug}/leave/", {"undo": "1"})
    again = factories.claim(campaign, person)
    assert (again.item_id, again.draft["question"]["first"]) == (held.item_id, first)
    client.post(f"/work/{campaign.slug}/leave/")
    withdrawals_apply(now + GRACE * 2)
    assert [assignment.draft for assignment in Assignment.objects.all()] == [{}, {}]


def test_nothing_is_recorded_before_a_new_text_is_agreed_to(campaign):
    person, client = factories.annotator(campaign), Client()
    client.force_login(person)
    held = factories.claim(campaign, person)
    text = factories.consent_text(campaign)
    own = f"/assignments/{held.pk}"
    sent = {"stage": "relevance", "version": "0", "label": "4", "sequence": "0", "events": '[[1, "key"]]', "text": "x"}
    for what in ("stage", "draft", "events", "submit", "skip", "report", "back", "extend"):
        assert client.post(f"{own}/{what}/", {**sent, "reason": "unclear"}).status_code == 403, what
    assert not Annotation.objects.exists() and not EventChunk.objects.exists() and not ItemReport.objects.exists()
    work = f"/work/{campaign.slug}/"
    assert client.get(work)["Location"].endswith("/consent/")
    assert client.post(work)["Location"].endswith("/consent/")
    assert client.post(work, headers={"HX-Request": "true"})["HX-Redirect"].endswith("/consent/")
    client.post(f"/work/{campaign.slug}/consent/", {"text": text.pk})
    assert client.post(f"{own}/events/", sent).status_code == 204 and EventChunk.objects.count() == 1
    assert client.post(f"{own}/stage/", sent).status_code == 302
    assert Annotation.objects.get().state == "counted"


def test_who_never_worked_there_has_no_such_page(campaign):
    annotator(campaign)
    other, client = factories.user(), Client()
    client.force_login(other)
    assert client.get(f"/work/{campaign.slug}/leave/").status_code == 404
    assert client.post(f"/work/{campaign.slug}/leave/").status_code == 404
    assert not Withdrawal.objects.exists()
