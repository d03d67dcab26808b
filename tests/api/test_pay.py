"""Decisions about pay by the API: the same services as on the review queue's page, each once."""

import pytest
from django.utils import timezone

from accounts.models import Surrogate
from tests import factories
from tests.api.client import Api
from workforces.models import Appeal, Errand, Ticket
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    campaign = factories.antique(items=1)
    manager = factories.user()
    factories.join(campaign, manager, "manager")
    row = workforce_add(
        campaign=campaign, kind="mturk", terms={"qualification": "own"}, actor_id=None, now=timezone.now()
    )
    return Api(manager), f"/api/v1/campaigns/{campaign.slug}", row


def ticket_in(row, state):
    return Ticket.objects.create(
        workforce=row,
        surrogate=Surrogate.objects.create(),
        remote_id=f"R{state}",
        code="c",
        state=state,
        problem="" if state == "refused" else "Submitted without the completion code",
        opened_at=timezone.now(),
        submitted_at=timezone.now(),
    )


def test_an_appeal_is_granted_once_and_paid(world):
    api, base, row = world
    appeal = Appeal.objects.create(
        campaign=row.campaign, ticket=ticket_in(row, "refused"), text="Please.", created_at=timezone.now()
    )
    assert [one["text"] for one in api.send("GET", f"{base}/appeals").json()["results"]] == ["Please."]
    denied = api.send("POST", f"{base}/appeals/{appeal.pk}/decide", {"grant": False})
    assert denied.status_code == 409  # a denial needs a reason
    answer = api.send("POST", f"{base}/appeals/{appeal.pk}/decide", {"grant": True, "answer": "You were right."})
    assert answer.json()["state"] == "granted"
    assert api.send("POST", f"{base}/appeals/{appeal.pk}/decide", {"grant": True}).status_code == 409
    assert Errand.objects.filter(kind="approve").count() == 1
    assert api.send("GET", f"{base}/appeals").json()["results"] == []


def test_unmatched_work_is_refused_once_with_a_reason_that_can_be_undone(world):
    api, base, row = world
    ticket = ticket_in(row, "unmatched")
    assert [one["id"] for one in api.send("GET", f"{base}/tickets").json()["results"]] == [ticket.pk]
    decide = f"{base}/tickets/{ticket.pk}/decide"
    assert api.send("POST", decide, {"choice": "refuse"}).status_code == 409
    assert api.send("POST", decide, {"choice": "refuse", "reason": "Nothing was answered."}).status_code == 200
    assert api.send("POST", decide, {"choice": "refuse", "reason": "Again."}).status_code == 409
    [errand] = api.send("GET", f"{base}/errands?state=due").json()["results"]
    assert api.send("POST", f"{base}/errands/{errand['id']}/undo").json()["state"] == "undone"
    assert api.send("POST", f"{base}/errands/{errand['id']}/undo").status_code == 409
    assert api.send("POST", decide, {"choice": "accept"}).json()["state"] == "submitted"


def test_a_failed_errand_is_sent_again_once(world):
    api, base, row = world
    errand = Errand.objects.create(workforce=row, kind="notify", token="t", state="failed", due_at=timezone.now())
    assert [one["id"] for one in api.send("GET", f"{base}/errands").json()["results"]] == [errand.pk]
    assert api.send("POST", f"{base}/errands/{errand.pk}/retry").json()["state"] == "sending"
    assert api.send("POST", f"{base}/errands/{errand.pk}/retry").status_code == 409
