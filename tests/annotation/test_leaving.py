"""The pages by which an annotator leaves a campaign, whatever became of their role."""

import pytest
from django.test import Client

from accounts.models import Membership
from annotation.models import Annotation, Withdrawal
from annotation.services.withdrawal import GRACE, withdrawals_apply
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


def test_who_never_worked_there_has_no_such_page(campaign):
    annotator(campaign)
    other, client = factories.user(), Client()
    client.force_login(other)
    assert client.get(f"/work/{campaign.slug}/leave/").status_code == 404
    assert client.post(f"/work/{campaign.slug}/leave/").status_code == 404
    assert not Withdrawal.objects.exists()
