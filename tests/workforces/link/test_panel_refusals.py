"""Pay that is refused to a panel's people: the list for the panel says so, they read why, and it can be taken back."""

import csv
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from quality.models import Review
from quality.people.services.reviews import reviews_lapse
from tests import factories
from tests.workforces.acts import by_link, path
from tests.workforces.link.panel import come, confirm, link, statement_of, unsigned, work
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


def refuse_doubtful(boss, row):
    """Refuse each visit that waits for a manager."""
    for ticket in Ticket.objects.filter(state="unmatched"):
        decide = reverse("quality-decide", args=[row.campaign.slug, "ticket", ticket.pk])
        boss.post(decide, {"choice": "refuse", "reason": "Both were copied."})


def listed(boss, row):
    answer = boss.get(reverse("approvals", args=[row.campaign.slug, row.pk]))
    lines = csv.DictReader(b"".join(answer.streaming_content).decode().splitlines())
    return [(line["PROLIFIC_PID"], line["SESSION_ID"], line["outcome"]) for line in lines]


@pytest.fixture
def twice():
    """Return a panel that cannot sign, and a manager's client; two visits with the same ids were refused."""
    row = link(factories.antique(items=20, n=1))
    for _ in range(2):
        work(*come(unsigned(row, "p", "v"), Client()))
    admin = factories.user(is_admin=True)
    boss = Client()
    boss.force_login(admin)
    confirm(row, "PROLIFIC_PID,SESSION_ID\np,v\n", admin)
    refuse_doubtful(boss, row)
    assert listed(boss, row) == [("p", "v", "refused")]
    return row, boss, admin


def test_who_was_refused_cannot_take_it_out_of_the_list_by_coming_again(twice):
    row, boss, admin = twice
    client, page = come(unsigned(row, "p", "v"), Client())
    assert listed(boss, row) == [("p", "v", "refused")]
    work(client, page)
    assert listed(boss, row) == [("p", "v", "refused")]
    confirm(row, "PROLIFIC_PID,SESSION_ID\np,v\n", admin)
    assert listed(boss, row) == [("p", "v", "undecided")]
    refuse_doubtful(boss, row)
    assert listed(boss, row) == [("p", "v", "refused")]


def test_a_visit_of_another_person_with_the_same_id_displaces_no_refusal(twice):
    row, boss, _ = twice
    come(unsigned(row, "zz", "v"), Client())
    assert listed(boss, row) == [("p", "v", "refused"), ("zz", "v", "open")]


def test_what_a_manager_accepts_stands_before_what_was_refused(twice):
    row, boss, admin = twice
    work(*come(unsigned(row, "p", "v"), Client()))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np,v\n", admin)
    [ticket] = Ticket.objects.filter(state="unmatched")
    decide = reverse("quality-decide", args=[row.campaign.slug, "ticket", ticket.pk])
    boss.post(decide, {"choice": "accept"})
    assert listed(boss, row) == [("p", "v", "completed")]


def test_a_later_visit_of_who_was_refused_waits_for_a_manager(refused):
    row, boss, _ = refused
    work(*come(unsigned(row, "p1", "s7"), Client()))
    assert ("p1", "s7", "undecided") in listed(boss, row)  # before the panel's list too
    confirm(row, "PROLIFIC_PID,SESSION_ID\np1,s7\n")
    assert Ticket.objects.get(remote_id="s7").state == "unmatched"
    assert ("p1", "s7", "undecided") in listed(boss, row)
    refuse_doubtful(boss, row)
    assert ("p1", "s7", "refused") in listed(boss, row)


def test_an_unsigned_visit_stands_beside_no_decision_about_the_same_ids(refused):
    row, boss, _ = refused
    work(*come(unsigned(row, "p1", "s0"), Client()))
    assert listed(boss, row) == [("p1", "s0", "refused"), ("p1", "s1", "refused"), ("p2", "s9", "completed")]


def test_the_visits_of_a_person_under_review_are_undecided_until_a_manager_decided():
    row = link(factories.antique(items=8, n=1))
    work(*come(by_link(row, "p1", "s1")))
    work(*come(by_link(row, "p2", "s2")))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.get(remote_id="s1").surrogate_id
    page = reverse("quality-person", args=[row.campaign.slug, person])
    boss.post(page, {"act": "pause", "reason": "Odd."})
    assert outcomes(boss, row) == ["undecided", "completed"]
    boss.post(page, {"act": "reinstate", "reason": "All is well."})
    assert outcomes(boss, row) == ["completed", "completed"]


@pytest.mark.parametrize("first", ["suspend", "reinstate", "lapse"])
def test_what_was_decided_to_be_paid_is_refused_by_no_later_decision(first):
    row = link(factories.antique(items=12, n=1))
    work(*come(by_link(row, "p1", "s1")))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.get().surrogate_id
    page = reverse("quality-person", args=[row.campaign.slug, person])
    boss.post(page, {"act": "pause", "reason": "Odd."})
    assert outcomes(boss, row) == ["undecided"]
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get().pk])
    if first == "lapse":
        Review.objects.update(decide_by=timezone.now() - timedelta(days=1))
        reviews_lapse(timezone.now())
        assert outcomes(boss, row) == ["completed"]  # nobody decided in time: it is paid
    boss.post(decide, {"choice": "reinstate" if first == "lapse" else first, "reason": "Fine."})
    if first == "suspend":
        boss.post(page, {"act": "reinstate", "reason": "Another chance."})
    factories.run_jobs()
    assert outcomes(boss, row) == ["completed"]
    work(*come(by_link(row, "p1", "s2")))
    boss.post(page, {"act": "pause", "reason": "Odd again."})
    assert outcomes(boss, row) == ["completed", "undecided"]
    last = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get(state="open").pk])
    boss.post(last, {"choice": "refuse", "reason": "Copied."})
    assert outcomes(boss, row) == ["completed", "refused"]


def test_where_unsigned_visits_count_at_once_a_refusal_stands_too():
    row = link(factories.antique(items=12, n=1), unsigned="count")
    work(*come(unsigned(row, "p", "v"), Client()))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.get().surrogate_id
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get().pk])
    boss.post(decide, {"choice": "refuse", "reason": "Copied."})
    work(*come(unsigned(row, "p", "v"), Client()))
    assert listed(boss, row) == [("p", "v", "refused")]
    work(*come(unsigned(row, "p", "w"), Client()))  # another visit of the panel is another matter
    assert listed(boss, row) == [("p", "v", "refused"), ("p", "w", "completed")]


def test_a_visit_in_work_when_pay_is_refused_waits_for_a_manager_once_it_is_done():
    row = link(factories.antique(items=12, n=1))
    work(*come(by_link(row, "p1", "s1")))
    client, page = half_done(by_link(row, "p1", "s2"))
    boss = Client()
    boss.force_login(factories.user(is_admin=True))
    person = Ticket.objects.get(remote_id="s1").surrogate_id
    manage = reverse("quality-person", args=[row.campaign.slug, person])
    boss.post(manage, {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", Review.objects.get().pk])
    boss.post(decide, {"choice": "refuse", "reason": "Copied."})
    work(client, page)  # what was in hand can be finished
    assert outcomes(boss, row) == ["refused", "undecided"]
    assert (
        "Pay for other work of this annotator was refused"
        in boss.get(reverse("quality-decisions", args=[row.campaign.slug])).content.decode()
    )
    ticket = reverse("quality-decide", args=[row.campaign.slug, "ticket", Ticket.objects.get(remote_id="s2").pk])
    boss.post(ticket, {"choice": "accept"})
    assert outcomes(boss, row) == ["refused", "completed"]
    boss.post(manage, {"act": "reinstate", "reason": "My mistake."})
    factories.run_jobs()
    work(*come(by_link(row, "p1", "s3")))
    assert outcomes(boss, row) == ["completed"] * 3  # nothing of it holds on


def manager():
    client = Client()
    client.force_login(factories.user(is_admin=True))
    return client


def refuse_pay(boss, row, person, reason="Copied."):
    """Pause a person, then suspend them and refuse their pay."""
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "pause", "reason": "Odd."})
    last = Review.objects.get(state="open", surrogate_id=person)
    decide = reverse("quality-decide", args=[row.campaign.slug, "review", last.pk])
    boss.post(decide, {"choice": "refuse", "reason": reason})
    factories.run_jobs()


def half_done(address):
    """Come and answer the first of two items; return the client and the page of the second."""
    client, page = come(address, Client())
    version = re.search(r'name="version" value="(\d+)"', page.content.decode()).group(1)
    sent = {"stage": "relevance", "version": version, "label": "4"}
    return client, client.post(path(page, "answer"), sent, follow=True)


def of_visit(visit):
    return Ticket.objects.get(remote_id=visit).surrogate_id


def test_a_visit_refused_before_a_list_confirmed_it_is_undecided_and_refused_once_it_is_listed():
    row, boss = link(factories.antique(items=12, n=1)), manager()
    work(*come(unsigned(row, "z", "zu1"), Client()))
    refuse_pay(boss, row, of_visit("zu1"))
    assert listed(boss, row) == [("z", "zu1", "undecided")]  # anyone can have come with these ids
    confirm(row, "PROLIFIC_PID,SESSION_ID\nz,zu1\n")
    assert listed(boss, row) == [("z", "zu1", "refused")]  # the manager decided about this very work
    person = of_visit("zu1")
    boss.post(
        reverse("quality-person", args=[row.campaign.slug, person]), {"act": "reinstate", "reason": "My mistake."}
    )
    assert listed(boss, row) == [("z", "zu1", "completed")]


def test_a_refusal_that_was_taken_back_before_the_list_came_refuses_nothing():
    row, boss = link(factories.antique(items=12, n=1)), manager()
    work(*come(unsigned(row, "z", "zu1"), Client()))
    refuse_pay(boss, row, of_visit("zu1"))
    page = reverse("quality-person", args=[row.campaign.slug, of_visit("zu1")])
    boss.post(page, {"act": "reinstate", "reason": "My mistake."})
    assert listed(boss, row) == [("z", "zu1", "completed")]
    confirm(row, "PROLIFIC_PID,SESSION_ID\nz,zu1\n")
    assert listed(boss, row) == [("z", "zu1", "completed")]


def test_a_visit_in_work_when_the_pay_of_its_unconfirmed_person_was_refused_is_undecided():
    row, boss = link(factories.antique(items=12, n=1)), manager()
    half = half_done(unsigned(row, "z", "zu1"))
    refuse_pay(boss, row, of_visit("zu1"))
    work(*half)
    assert listed(boss, row) == [("z", "zu1", "undecided")]
    confirm(row, "PROLIFIC_PID,SESSION_ID\nz,zu1\n")
    assert listed(boss, row) == [("z", "zu1", "undecided")]


@pytest.mark.parametrize("order", [("u1", "u2", "u3"), ("u3", "u2", "u1"), ("u2", "u1", "u3")])
def test_the_order_of_a_list_decides_nothing_about_who_was_refused(order):
    row, boss = link(factories.antique(items=16, n=1)), manager()
    work(*come(unsigned(row, "p", "u1"), Client()))
    work(*come(unsigned(row, "p", "u3"), Client()))
    second = half_done(unsigned(row, "p", "u2"))
    refuse_pay(boss, row, of_visit("u1"))
    work(*second)
    confirm(row, "PROLIFIC_PID,SESSION_ID\n" + "".join(f"p,{visit}\n" for visit in order))
    assert sorted(listed(boss, row)) == [("p", "u1", "refused"), ("p", "u2", "undecided"), ("p", "u3", "undecided")]


def test_what_was_paid_before_a_refusal_stays_paid_when_the_list_brings_that_refusal():
    row, boss = link(factories.antique(items=16, n=1)), manager()
    work(*come(by_link(row, "p", "s1")))
    work(*come(unsigned(row, "p", "u1"), Client()))
    refuse_pay(boss, row, of_visit("u1"))
    confirm(row, "PROLIFIC_PID,SESSION_ID\np,u1\n")
    assert listed(boss, row) == [("p", "s1", "completed"), ("p", "u1", "refused")]


def test_a_visit_that_a_manager_accepted_is_refused_by_no_later_decision():
    row, boss = link(factories.antique(items=16, n=1)), manager()
    work(*come(by_link(row, "p", "v0")))
    half = half_done(by_link(row, "p", "v1"))
    person = of_visit("v0")
    refuse_pay(boss, row, person)
    work(*half)
    assert outcomes(boss, row) == ["refused", "undecided"]
    [ticket] = Ticket.objects.filter(state="unmatched")
    boss.post(reverse("quality-decide", args=[row.campaign.slug, "ticket", ticket.pk]), {"choice": "accept"})
    assert outcomes(boss, row) == ["refused", "completed"]
    boss.post(reverse("quality-person", args=[row.campaign.slug, person]), {"act": "reinstate", "reason": "Again."})
    refuse_pay(boss, row, person, "Once more.")
    assert outcomes(boss, row) == ["completed", "completed"]
