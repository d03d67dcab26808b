"""A pilot drawn from imported items, and what its page says comes next."""

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.campaigns.services.numbers import numbers_refresh
from annotation.items.services.items import pilot_draw
from annotation.models import Batch, Slot
from annotation.people.selectors.progress import progress_of
from jobs.terminal import run_here
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported():
    """A campaign with one launched item and ten that wait, and a manager's client."""
    campaign = factories.antique(items=1, n=1)
    factories.import_rows(campaign, factories.pairs(10, prefix="5"))
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    return campaign, client


def test_items_are_drawn_from_what_is_not_launched_and_leave_the_dataset(imported):
    campaign, client = imported
    page = client.post(f"/campaigns/{campaign.slug}/pilot/draw/", {"items": 4, "people": 3}, follow=True)
    assert "4 items drawn" in page.content.decode()
    batch = Batch.objects.get(campaign=campaign, purpose="pilot")
    drawn = list(batch.items.all())
    assert {(item.split.name, item.n, item.votes, item.external_id[0]) for item in drawn} == {("pilot", 3, 3, "5")}
    assert AuditEvent.objects.get(action="pilot_draw").data == {"items": 4}
    factories.launch(campaign)
    assert Slot.objects.filter(item__batch=batch).count() == 12


def test_the_same_items_are_drawn_again_and_none_twice(imported):
    campaign, _client = imported
    draw = {"campaign": campaign, "people": 2, "actor_id": None, "now": timezone.now()}
    wanted = sorted(campaign.items.filter(batch__state="draft").values_list("content_sha256", flat=True))
    assert pilot_draw(items=3, **draw) == 3
    pilot = campaign.items.filter(batch__purpose="pilot")
    assert sorted(pilot.values_list("content_sha256", flat=True)) == wanted[:3]
    assert pilot_draw(items=200, **draw) == 7
    assert pilot_draw(items=1, **draw) == 0
    assert pilot.count() == 10


@pytest.mark.parametrize(
    "sent", [{}, {"items": 0, "people": 2}, {"items": 201, "people": 2}, {"items": 5, "people": 1}]
)
def test_a_wrong_pilot_draws_nothing_and_says_why(imported, sent):
    campaign, client = imported
    page = client.post(f"/campaigns/{campaign.slug}/pilot/draw/", sent, follow=True).content.decode()
    assert 'class="callout error"' in page
    assert not Batch.objects.filter(purpose="pilot").exists()


def test_the_page_says_how_far_colleagues_agree_and_starts_the_campaign(imported):
    campaign, client = imported
    client.post(f"/campaigns/{campaign.slug}/pilot/draw/", {"items": 2, "people": 2})
    [batch] = Batch.objects.filter(campaign=campaign, purpose="pilot")
    client.post(f"/campaigns/{campaign.slug}/launch/", {"batch": batch.ordinal})
    factories.run_jobs()
    odd = batch.items.order_by("pk")[0]
    Slot.objects.exclude(item__batch=batch).update(state="closed")  # the pilot alone is open
    for label in (4, 1):
        person = factories.annotator(campaign)
        for _ in range(2):
            assignment = factories.claim(campaign, person)
            factories.submit(factories.label(assignment, label if assignment.item == odd else 4))
    page = client.get(f"/campaigns/{campaign.slug}/pilot/").content.decode()
    assert "All annotators agree on 1 of 2 items (50%)." in page
    assert "Launch batch " in page


def test_home_tells_what_runs_and_what_is_imported_and_nobody_is_promised_an_item_twice():
    campaign = factories.antique(items=0, n=3)
    factories.import_rows(campaign, factories.pairs(10, prefix="5"))
    manager, person = factories.user(), factories.annotator(campaign)
    factories.join(campaign, manager, Role.MANAGER)
    client = Client()
    client.force_login(manager)

    def home():
        numbers_refresh(campaign=campaign, now=timezone.now())
        return " ".join(client.get("/").content.decode().split())

    assert "10 items imported, not launched yet." in home()
    pilot_draw(campaign=campaign, items=3, people=2, actor_id=None, now=timezone.now())
    payload = {"campaign": str(campaign.pk), "batch": Batch.objects.get(purpose="pilot").pk}
    run_here(kind="annotation.launch", payload=payload, stderr=factories.Quiet(), scope_id=campaign.pk)
    assert "A pilot with 3 items is running. 7 items imported, not launched yet." in home()
    overview = " ".join(client.get(f"/campaigns/{campaign.slug}/").content.decode().split())
    assert "Pilot: 0 of 6 annotations" in overview and "0 of 0 annotations" not in overview
    (found,) = progress_of([campaign], person.surrogate_id)
    assert (found.open, found.left) == (6, 3)
    factories.launch(campaign)
    assert "0 of 21 annotations" in home()
