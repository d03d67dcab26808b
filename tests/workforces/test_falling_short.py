"""HITs and visits that are submitted with less than they ask for: what is paid, what waits, and whose it is."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import ExternalIdentity
from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import Assignment, Participation, Slot
from annotation.slots.services.sweeps import assignments_expire
from simulation.browser import Browser
from simulation.doors.market import SUBMIT
from tests import factories
from tests.workforces.acts import (
    answer,
    answer_in,
    answer_one,
    arrive,
    by_link,
    enter,
    lapse,
    path,
    readdressed,
    rounds,
    send,
    visit_of,
)
from tests.workforces.link.panel import come, confirm, link, states, unsigned
from tests.workforces.test_handing_in import owed
from workforces.kinds.mturk.postings import posting_end
from workforces.models import LedgerEntry, Posting, Ticket, Workforce

HIT_OF_THREE = {"items_per_ticket": 3, "reward_cents": 50, "places": 1}


def paid():
    return list(LedgerEntry.objects.filter(kind="reward").order_by("pk").values_list("cents", flat=True))


def skip_the_rest(page):
    while (skip := page.form_to("/skip/")) is not None:
        page = send(skip, reason="unclear")
    return page


def accept(made, ticket):
    client = Client()
    client.force_login(factories.user(is_admin=True))
    client.post(f"/campaigns/{made.campaign.slug}/review/ticket/{ticket.pk}/", {"choice": "accept"})


def move(campaign, to):
    with transaction.atomic():
        campaign_move(campaign=campaign, to=to, actor_id=None, now=timezone.now())


def waiting():
    return Ticket.objects.filter(state="unmatched").count()


@pytest.mark.django_db(transaction=True)
def test_a_hit_that_a_manager_accepts_is_its_workers_whoever_the_address_named(desk):
    made = desk(items=6, n=2, sign=False, terms={"items_per_ticket": 2, "places": 3})
    rounds(made)
    made.worker("victim").work()
    rounds(made)
    victim = ExternalIdentity.objects.get()
    page = skip_the_rest(answer_one(readdressed(made.worker("liar").take().frame, workerId=victim.name)))
    send(page.form_to(SUBMIT))
    rounds(made)
    short = Ticket.objects.get(state="unmatched")
    liar = ExternalIdentity.objects.exclude(pk=victim.pk).get()
    assert short.surrogate_id == liar.surrogate_id
    accept(made, short)
    rounds(made)
    assert list(Ticket.objects.values_list("state", flat=True)) == ["approved", "approved"]
    own = re.search(r'href="[^"]*(/statement/[^"]*)"', Client().get(urlsplit(page.url).path).content.decode())[1]
    assert victim.name not in Client().get(own).content.decode()
    Client().post(own, {"withdraw": "yes"})
    assert list(made.campaign.withdrawals.values_list("surrogate", flat=True)) == [liar.surrogate_id]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["AX{}", ""])
def test_an_unsigned_hit_that_falls_short_waits_for_a_manager_though_others_hold_the_rest(desk, name):
    made = desk(items=3, n=3, sign=False, terms=HIT_OF_THREE)
    rounds(made)
    worker = made.worker("w")
    urls = [worker.take().frame for _ in range(3)]
    pages = [enter(readdressed(url, workerId=name.format(number)) if name else url) for number, url in enumerate(urls)]
    for number in range(6):
        arrive(made, f"AINVENTED{number}", f"3INVENTED{number}")
    for page in pages:
        send(answer_in(page).form_to(SUBMIT))
    rounds(made, 4)
    assert (waiting(), LedgerEntry.objects.filter(kind="reward").count()) == (3, 0)
    assert ExternalIdentity.objects.count() == 1  # the marketplace says who it was


@pytest.mark.django_db(transaction=True)
def test_training_alone_in_several_unsigned_hits_is_not_paid_like_work(desk):
    made = desk(items=2, n=1, sign=False, has_training=True, terms={"items_per_ticket": 1, "places": 1})
    rounds(made)
    worker = made.worker("w")
    urls = [worker.take().frame for _ in range(2)]
    Slot.objects.update(state="closed")
    for url in urls:
        page = enter(url)
        while page.form_to(SUBMIT) is None:
            lesson = page.form_to("/learn/")
            visit = page.url.split("learn/")[0]
            page = send(lesson, label="4") if lesson else Browser().get(f"{visit}?begin=1")
        send(page.form_to(SUBMIT))
    rounds(made, 4)
    assert Participation.objects.exclude(trained_at=None).exists()
    assert (waiting(), LedgerEntry.objects.filter(kind="reward").count()) == (2, 0)


@pytest.fixture
def paused(desk):
    """Return a campaign that was paused while a worker was at the second item of three, and the page after it."""
    made = desk(items=3, n=1, terms=HIT_OF_THREE)
    rounds(made)
    page = answer_one(made.worker("w").take().frame)
    move(made.campaign, "paused")
    return made, answer_in(page)


@pytest.mark.django_db(transaction=True)
def test_a_pause_of_the_campaign_ends_no_hit(paused):
    made, page = paused
    assert page.form_to(SUBMIT) is None and Ticket.objects.get().state == "open"
    move(made.campaign, "open")
    page = answer_in(Browser().get(page.url))
    send(page.form_to(SUBMIT))
    rounds(made)
    assert (Ticket.objects.get().state, states()) == ("approved", ["counted"] * 3)


@pytest.mark.django_db(transaction=True)
def test_who_does_not_wait_for_the_end_of_a_pause_hands_in_what_they_did(paused):
    made, page = paused
    page = send(page.form_to("/agree/"), hand_in="1")
    send(page.form_to(SUBMIT))
    rounds(made)
    assert (waiting(), Ticket.objects.get().problem) == (1, "Submitted with fewer items than required")


@pytest.mark.django_db(transaction=True)
def test_each_hit_is_measured_by_its_own_terms(desk):
    made = desk(items=3, n=1, terms={**HIT_OF_THREE, "items_per_ticket": 2})
    rounds(made)
    worker = made.worker("w")
    worker.work()
    rounds(made)
    Workforce.objects.filter(pk=made.workforce.pk).update(terms={**made.workforce.terms, "items_per_ticket": 3})
    for posting in Posting.objects.filter(state="open"):
        posting_end(posting=posting, now=timezone.now())
    rounds(made, 4)
    assert worker.work() == "handed_in"  # one item is left of three
    rounds(made)
    assert list(Ticket.objects.values_list("state", flat=True)) == ["approved", "approved"]


@pytest.mark.django_db(transaction=True)
def test_the_id_of_an_owed_hit_in_an_unsigned_address_pays_no_other_hit(desk):
    made = desk(items=6, n=1, sign=False, terms=HIT_OF_THREE)
    worker, ticket = owed(made)
    hit = Posting.objects.get(owed_to=ticket.surrogate_id).hit_id
    url = next(frame for frame in (worker.take().frame for _ in range(2)) if hit not in frame)
    send(enter(readdressed(url, hitId=hit)).form_to(SUBMIT))
    rounds(made, 4)
    assert (paid(), waiting()) == ([50], 1)


@pytest.mark.django_db(transaction=True)
def test_a_hit_is_measured_by_its_own_terms_whatever_hit_an_unsigned_address_names(desk):
    made = desk(items=6, n=1, sign=False, terms={"items_per_ticket": 1, "places": 1, "reward_cents": 5})
    rounds(made, 2)
    first, *others = Posting.objects.order_by("pk")
    for posting in others:
        posting_end(posting=posting, now=timezone.now())
    Workforce.objects.update(terms={**made.workforce.terms, "items_per_ticket": 3, "reward_cents": 50})
    rounds(made)
    worker = made.worker("w")
    url = next(frame for frame in (worker.take().frame for _ in range(2)) if first.hit_id not in frame)
    send(answer_one(readdressed(url, hitId=first.hit_id)).form_to(SUBMIT))
    rounds(made, 4)
    assert (paid(), waiting()) == ([], 1)


@pytest.mark.django_db(transaction=True)
def test_a_hit_that_was_given_back_holds_no_later_pay(desk):
    made = desk(items=6, n=1, terms=HIT_OF_THREE)
    rounds(made)
    worker = made.worker("w")
    taken = worker.take()
    answer_one(taken.frame)
    worker._give_back(taken)
    lapse(made, Ticket.objects.get())
    rounds(made, 2)
    assert [worker.work(), worker.work()] == ["handed_in"] * 2  # three items, and the last two
    rounds(made)
    assert (waiting(), Ticket.objects.filter(state="approved").count()) == (0, 2)


@pytest.mark.django_db
def test_a_panel_visit_that_is_listed_while_in_work_goes_on_and_is_confirmed_by_a_later_list():
    campaign = factories.antique(items=8, n=1)
    row = link(campaign, items_per_ticket=4)
    client, page = come(unsigned(row, "p1", "s1"))
    answer = {"stage": "relevance", "version": "0", "label": "4"}
    client.post(path(page, "answer"), answer)
    listed = "PROLIFIC_PID,SESSION_ID,Status\np1,s1,AWAITING REVIEW\n"
    confirm(row, listed)
    assert set(campaign.annotations.values_list("state", flat=True)) == {"provisional"}
    for _ in range(3):
        page = client.get(visit_of(page))
        assert client.post(path(page, "answer"), answer).status_code == 302
    last = client.get(visit_of(page)).content.decode()
    assert "CODE-DONE" in last and "CODE-LEFT" not in last
    confirm(row, listed)
    assert campaign.annotations.filter(state="counted").count() == 4


@pytest.mark.django_db
def test_a_signed_visit_gets_no_code_of_completed_work_because_invented_visits_hold_the_rest():
    row = link(factories.antique(items=12, n=1), items_per_ticket=10)
    client, page = come(by_link(row, "p1", "s1"))
    for number in range(11):
        come(unsigned(row, f"x{number}", f"y{number}"))
    answer(client, page)
    assert "CODE-LEFT" in client.get(visit_of(page)).content.decode()
    assert Ticket.objects.get(is_signed=True).outcome == "nothing_left"


@pytest.mark.django_db(transaction=True)
def test_a_signed_hit_waits_for_a_manager_if_invented_visits_hold_the_rest(desk):
    made = desk(items=6, n=1, terms={"items_per_ticket": 3, "reward_cents": 50, "places": 1})
    row = link(made.campaign, items_per_ticket=10)
    rounds(made)
    page = enter(made.worker("w").take().frame)
    for number in range(5):
        come(unsigned(row, f"x{number}", f"y{number}"))
    send(answer_in(page).form_to(SUBMIT))
    rounds(made, 4)
    assert (waiting(), paid()) == (1, [])


def overdue():
    """Let the deadline of the item in hand pass."""
    Assignment.objects.filter(state__in=["live", "reserved"]).update(deadline_at=timezone.now() - timedelta(seconds=5))
    assignments_expire(timezone.now())


def test_one_item_that_expired_again_and_again_is_paid_once(desk):
    made = desk(items=12, n=1, terms={"items_per_ticket": 1, "places": 1, "reward_cents": 50})
    rounds(made)
    worker = made.worker("w")
    urls = [worker.take().frame for _ in range(4)]
    page, expired = enter(urls[0]), []
    for _ in range(3):
        expired.append(str(Assignment.objects.get(state="live").pk))
        overdue()
        page = Browser().get(page.url)
    assert Assignment.objects.values("item").distinct().count() == 1
    in_hand = str(Assignment.objects.get(state="live").pk)
    for url, old in zip(urls[1:], expired, strict=True):
        form = enter(url).form_to("/answer/")
        form.action = form.action.replace(in_hand, old)
        assert send(form, label="4", version="0").form_to(SUBMIT) is None
    send(send(page.form_to("/answer/"), label="4").form_to(SUBMIT))
    rounds(made, 4)
    assert paid() == [50]
