"""Pay that is refused to a panel's people: the list for the panel says so, they read why, and it can be taken back."""

import csv

import pytest
from django.test import Client
from django.urls import reverse

from quality.models import Review
from tests import factories
from tests.workforces.acts import by_link
from tests.workforces.panel import come, link, statement_of, work
from workforces.models import Appeal, Errand, LedgerEntry, Ticket

pytestmark = pytest.mark.django_db


def outcomes(boss, row):
    answer = boss.get(reverse("approvals", args=[row.campaign.slug, row.pk]))
    lines = csv.DictReader(b"".join(answer.streaming_content).decode().splitlines())
    return [line["outcome"] for line in lines]


@pytest.fixture
def refused():
    """Return a panel, a manager's client, and the statement of a person who was suspended and refused pay for two visits."""
    row = link(factories.antique(items=8, n=1))
    pages = [work(*come(by_link(row, "p1", f"s{number}"))) for number in range(2)]
    work(*come(by_link(row, "p2", "s9")))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.filter(remote_id="s0").get().surrogate_id
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get().pk])
    boss.post(decide, {"choice": "refuse", "reason": "All of it was copied."})
    factories.run_jobs()
    return row, boss, statement_of(pages[1])


def test_the_list_says_refused_and_the_person_reads_why(refused):
    row, boss, statement = refused
    assert outcomes(boss, row) == ["refused", "refused", "completed"]
    page = Client().get(statement).content.decode()
    assert page.count("All of it was copied.") >= 2 and page.count("Appeal</button>") == 2
    numbers = boss.get(reverse("quality", args=[row.campaign.slug]))
    factories.run_jobs()
    numbers = boss.get(reverse("quality", args=[row.campaign.slug]))
    assert numbers.context["summary"]["refused"] == 4
    assert (
        not LedgerEntry.objects.exists() and not Errand.objects.filter(state__in=["due", "sending", "failed"]).exists()
    )


def test_a_suspension_that_is_lifted_pays_them_for_good(refused):
    row, boss, _ = refused
    person = Ticket.objects.filter(remote_id="s0").get().surrogate_id
    page = reverse("quality-person", args=[row.campaign.slug, person])
    boss.post(page, {"act": "reinstate", "reason": "My mistake."})
    factories.run_jobs()
    assert outcomes(boss, row) == ["completed"] * 3
    boss.post(page, {"act": "pause", "reason": "Odd again."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get(state="open").pk])
    boss.post(decide, {"choice": "refuse", "reason": "It was copied after all."})
    assert outcomes(boss, row) == ["completed"] * 3


def test_an_appeal_that_is_granted_pays_that_visit(refused):
    row, boss, statement = refused
    ticket = Ticket.objects.get(remote_id="s1")
    Client().post(statement, {"ticket": ticket.pk, "text": "It was mine."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "appeal", Appeal.objects.get().pk])
    boss.post(decide, {"choice": "grant", "answer": "You are right."})
    assert outcomes(boss, row) == ["refused", "completed", "completed"]
    assert Appeal.objects.get().state == "granted"
    assert not Errand.objects.filter(state__in=["due", "sending", "failed"]).exists()
    person = ticket.surrogate_id
    boss.post(
        reverse("quality-person", args=[row.campaign.slug, person]), {"act": "reinstate", "reason": "My mistake."}
    )
    assert outcomes(boss, row) == ["completed"] * 3
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "pause", "reason": "Odd again."})
    again = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get(state="open").pk])
    boss.post(again, {"choice": "refuse", "reason": "Once more."})
    assert outcomes(boss, row) == ["completed"] * 3  # an appeal can be made once: what it granted stays


def test_paying_all_refuses_nothing():
    row = link(factories.antique(items=8, n=1))
    work(*come(by_link(row, "p1", "s1")))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.get().surrogate_id
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get().pk])
    boss.post(decide, {"choice": "suspend", "reason": "Careless."})
    assert outcomes(boss, row) == ["completed"]
