"""Open annotations that nobody who works in a campaign can give: managers are told."""

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Membership, Surrogate
from annotation.campaigns.selectors import overview as overviews
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.items.services.items import item_retire
from annotation.models import Campaign, CampaignState, Participation, Slot, Standing, Withdrawal
from annotation.slots.selectors import met_by_all
from annotation.slots.selectors.met_by_all import slots_met_by_all
from annotation.slots.services.claims import Reason, slot_claim_next
from tests import factories, writing

pytestmark = pytest.mark.django_db


@pytest.fixture
def short():
    """Return a campaign of two pairs that three people are to label, and the two there are: both have done all they can."""
    campaign = factories.antique(items=2, n=3)
    people = [factories.annotator(campaign) for _ in range(2)]
    for person in people:
        for _ in range(2):
            factories.vote(campaign, person, 2)
    return campaign, people


def overview(client, campaign):
    numbers_refresh(campaign=campaign, now=timezone.now())
    return " ".join(client.get(reverse("campaign", args=[campaign.slug])).content.decode().split())


def test_refusals_use_up_a_small_team_and_the_overview_says_so_until_somebody_joins(client):
    campaign, boss = writing.campaign(), factories.user(is_admin=True)
    people = [factories.annotator(campaign) for _ in range(4)]
    client.force_login(boss)
    for author, reviewer in (people[:2], people[2:]):
        assert slots_met_by_all(campaign) == 0
        writing.write(campaign, author, f"高等数学是哪一年出版的{people.index(author)}？")
        factories.examine(campaign)
        assert "can't be assigned" not in overview(client, campaign)
        writing.review(campaign, reviewer, "reject", reason="unclear")
        factories.examine(campaign)
    for person in people:
        claim = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
        assert claim.reason == Reason.ALL_SEEN
    page = overview(client, campaign)
    assert "1 open annotation can't be assigned" in page
    assert reverse("campaign-people", args=[campaign.slug]) + '">Invite annotators' in page
    factories.annotator(campaign)
    assert "can't be assigned" not in overview(client, campaign)


def test_more_are_wanted_of_an_item_than_there_are_people(short):
    campaign, _people = short
    assert Slot.objects.filter(state="open").count() == slots_met_by_all(campaign) == 2
    item_retire(item=campaign.items.first(), reason="broken", actor_id=None, now=timezone.now())
    assert slots_met_by_all(campaign) == 1


def test_only_the_front_of_the_queue_is_counted(client, monkeypatch):
    monkeypatch.setattr(met_by_all, "LOOKED_AT", 5)
    monkeypatch.setattr(overviews, "LOOKED_AT", 5)
    campaign, boss = factories.antique(items=8, n=2), factories.user(is_admin=True)
    person = factories.annotator(campaign)
    for _ in range(8):
        factories.vote(campaign, person, 2)
    client.force_login(boss)
    assert slots_met_by_all(campaign) == 5
    assert "Hundreds of open annotations can't be assigned" in overview(client, campaign)


def test_who_gets_no_work_is_nobody_to_wait_for(short):
    campaign, _people = short
    other = factories.annotator(campaign)
    place = Participation.objects.create(campaign=campaign, surrogate=other.surrogate)
    assert slots_met_by_all(campaign) == 0
    for standing, met in ((Standing.SUSPENDED, 2), (Standing.WARNED, 0), (Standing.PAUSED, 2), (Standing.ACTIVE, 0)):
        Participation.objects.filter(pk=place.pk).update(standing=standing)
        assert slots_met_by_all(campaign) == met
    left = Withdrawal.objects.create(
        campaign=campaign, surrogate=other.surrogate, asked_at=timezone.now(), due_at=timezone.now()
    )
    assert slots_met_by_all(campaign) == 2
    left.delete()
    Membership.objects.filter(user=other).delete()
    assert slots_met_by_all(campaign) == 2


def test_whom_others_send_can_be_given_work_until_their_quota_is_reached(short):
    campaign, _people = short
    visitor = Surrogate.objects.create()
    Participation.objects.create(campaign=campaign, surrogate=visitor, submitted=3)
    assert slots_met_by_all(campaign) == 0
    Campaign.objects.update(quota=3)
    campaign.refresh_from_db()
    assert slots_met_by_all(campaign) == 2


def test_without_anybody_there_is_nobody_who_met_anything():
    assert slots_met_by_all(factories.antique(items=2, n=1)) == 0


def test_it_takes_as_many_statements_whatever_there_is(short, django_assert_num_queries):
    more = factories.antique(items=30, n=3)
    for person in [factories.annotator(more) for _ in range(6)]:
        factories.vote(more, person, 3)
    for campaign in (short[0], more):
        with django_assert_num_queries(5):
            slots_met_by_all(campaign)


def test_the_overview_renews_only_what_its_page_shows(client):
    campaign = factories.campaign(items=1)
    manager = factories.user(is_admin=True)
    client.force_login(manager)
    part = f"/campaigns/{campaign.slug}/"
    assert 'id="close-says"' in client.get(part, headers={"hx-request": "true"}).content.decode()
    campaign.state = CampaignState.CLOSED
    campaign.save()
    for headers in ({}, {"hx-request": "true"}):
        assert 'id="close-says"' not in client.get(part, headers=headers).content.decode()
