"""Money at the marketplace: caps, ceilings, lost replies, messages, books of people who were erased."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts.identities import external_erase
from accounts.models import AuditEvent, ExternalIdentity
from annotation.models import Annotation, Participation
from annotation.people.services.standing import standing_move
from quality.people.selectors.pay import wages_of
from tests import factories
from tests.workforces.acts import arrive, fault, paid
from workforces.kinds.mturk.client import Market
from workforces.kinds.mturk.postings import compensation_post, posting_end
from workforces.kinds.mturk.reconcile import reconcile
from workforces.models import Errand, LedgerEntry, Posting, Ticket
from workforces.services.confirmations import ticket_accept
from workforces.services.messages import person_message
from workforces.services.outbox import errand_add
from workforces.services.pay import pay_hold, pay_refusal_end
from workforces.services.refusals import refusal_take_back, ticket_refuse, tickets_refuse
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add


def test_an_approval_whose_reply_was_lost_is_read_back_and_not_reported(desk):
    """boto3 tries again by itself, and the marketplace refuses the second: it is approved, after all."""
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    fault(made, "ApproveAssignment", "drop-after", 1)
    made.round()
    made.hurry()
    made.round()
    assert Errand.objects.get(kind="approve").state == "confirmed"
    assert paid(made) == 10


def test_a_warning_reaches_the_person_at_the_marketplace_and_on_their_statement(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    ticket = Ticket.objects.get()
    with transaction.atomic():
        person_message(
            campaign=made.campaign,
            surrogate_id=ticket.surrogate_id,
            text="Please read the guidelines again.",
            token="t1",
            now=timezone.now(),
        )
        standing_move(
            campaign=made.campaign, surrogate_id=ticket.surrogate_id, to="warned", actor_id=None, now=timezone.now()
        )
    made.round()
    assert Errand.objects.get(kind="notify").state == "confirmed"
    page = Client().get(statement_path(ticket))
    assert "Please read the guidelines again" in page.content.decode()


def test_the_books_are_compared_after_someone_was_erased(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    identity = ExternalIdentity.objects.get(surrogate=Ticket.objects.get().surrogate_id)
    external_erase(identity=identity, actor_id=None, now=timezone.now())
    found = reconcile(workforce=made.workforce)
    assert (found.differences, found.rewards_ours, found.rewards_theirs) == ([], 10, 10)


def test_comparing_the_books_asks_twice_of_each_posting_and_tells_what_only_one_side_knows(desk, monkeypatch):
    made = desk(items=3, n=1, terms={"places": 1})
    made.round()
    asked, call = [], Market._call
    monkeypatch.setattr(Market, "_call", lambda market, name, **rest: asked.append(name) or call(market, name, **rest))
    found = reconcile(workforce=made.workforce)
    assert (found.hits, found.differences) == (3, [])
    lists = ["list_hits"] * 2  # a page is the last one when the next is empty
    assert sorted(asked) == ["list_assignments_for_hit"] * 3 + ["list_bonus_payments"] * 3 + lists
    moved = Posting.objects.order_by("pk").first()
    Posting.objects.filter(pk=moved.pk).update(hit_id="3GONEGONEGONEGONEGONEGONE")
    found = reconcile(workforce=made.workforce)
    assert found.differences == [
        f"HIT {moved.hit_id} is not known here",
        "HIT 3GONEGONEGONEGONEGONEGONE is not known there",
    ]


def test_a_manager_compares_the_books_in_the_browser(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    boss, address = Client(), f"/campaigns/{made.campaign.slug}/recruitment/"
    boss.force_login(factories.user(is_admin=True))
    boss.post(address, {"reconcile": made.workforce.pk})
    factories.run_jobs()
    page = boss.get(address).content.decode()
    assert "The ledgers match." in page and "1 assignments. Rewards: $0.10 in Quorate, $0.10 on the marketplace" in page
    Ticket.objects.update(state="refused")
    boss.post(address, {"reconcile": made.workforce.pk})
    factories.run_jobs()
    page = boss.get(address).content.decode()
    assert "1 difference." in page and Ticket.objects.get().remote_id in page
    other = workforce_add(campaign=factories.antique(), kind="mturk", terms={}, actor_id=None, now=timezone.now())
    assert boss.post(address, {"reconcile": other.pk}).status_code == 404


def test_a_posting_that_someone_works_on_slowly_is_not_replaced(desk):
    made = desk(items=2, n=1, terms={"stale_seconds": 60, "places": 1})
    made.round()
    client, page = arrive(made, "ASLOW", "3SLOW")
    long_ago = timezone.now() - timedelta(seconds=120)
    Posting.objects.update(touched_at=long_ago)
    made.round()
    states = dict(Posting.objects.values_list("hit_id", "state"))
    worked_on = Ticket.objects.get(remote_id="3SLOW").posting.hit_id
    assert states[worked_on] == "open"
    assert "ended" in states.values()  # nobody took the other


def test_pay_is_decided_once_whatever_the_tokens(desk):
    made = desk(items=1, n=1)
    made.round()
    made.worker("a").work()
    ticket = Ticket.objects.get()
    decision = {"workforce": made.workforce, "kind": "approve", "ticket": ticket, "due_at": timezone.now()}
    with transaction.atomic():
        first = errand_add(**decision, token="one")
        assert errand_add(**decision, token="one").pk == first.pk
    with pytest.raises(IntegrityError, match="contradicts"), transaction.atomic():
        errand_add(**decision, token="two")
    assert Errand.objects.filter(kind="approve").count() == 1


def test_the_last_word_on_letting_someone_in_holds_whatever_order_the_errands_take(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    person = Ticket.objects.get().surrogate_id
    now = timezone.now()
    with transaction.atomic():
        late = {"workforce": made.workforce, "surrogate_id": person, "text": "test"}
        first = errand_add(kind="grant", due_at=now + timedelta(hours=1), **late)
        second = errand_add(kind="revoke", due_at=now, **late)
    made.round()
    second.refresh_from_db()
    assert second.state == "due"  # it waits for what was said before it
    assert Errand.objects.get(kind="approve").state == "confirmed"  # and nothing else does
    Errand.objects.filter(pk=first.pk).update(due_at=now)
    made.round()
    made.round()
    assert set(Errand.objects.filter(pk__in=[first.pk, second.pk]).values_list("state", flat=True)) == {"confirmed"}
    held = made.client.list_workers_with_qualification_type(
        QualificationTypeId=made.workforce.remote["exclusion"], Status="Granted"
    )
    assert held["Qualifications"] == []


def test_refusing_all_that_is_unpaid_is_on_record(desk):
    made = desk(items=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    boss, person = factories.user(), Ticket.objects.get().surrogate_id
    with transaction.atomic():
        refused = tickets_refuse(
            campaign=made.campaign,
            surrogate_id=person,
            reason="Careless.",
            actor_id=boss.surrogate_id,
            due_at=timezone.now(),
            now=timezone.now(),
        )
    assert refused == 1
    assert AuditEvent.objects.filter(action="tickets_refuse", actor_id=boss.surrogate_id).count() == 1


def test_approved_by_the_marketplaces_clock_is_written_down_once_and_not_approved_again(desk):
    made = desk(items=1, terms={"approve_after_seconds": 3600, "auto_approval_seconds": 7200})
    made.round()
    made.worker("a").work()
    made.round()
    made.market.call("marketplace_clock", "--advance", "7300")
    try:
        made.round()
        made.round()
        assert Ticket.objects.get().state == "approved"
        assert not Errand.objects.filter(kind="approve", state="confirmed").exists()
        assert LedgerEntry.objects.filter(kind="reward").count() == 1
        assert paid(made) == 10
    finally:
        made.market.call("marketplace_clock", "--reset")


def test_a_refusal_comes_too_late_for_what_the_clock_approved(desk):
    made = desk(items=1, terms={"approve_after_seconds": 3600, "auto_approval_seconds": 7200})
    made.round()
    made.worker("a").work()
    made.round()
    boss = factories.user()
    ticket_refuse(
        ticket=Ticket.objects.get(),
        reason="Wrong.",
        actor_id=boss.surrogate_id,
        now=timezone.now(),
        due_at=timezone.now() + timedelta(seconds=60),
    )
    assert AuditEvent.objects.filter(action="ticket_refuse", actor_id=boss.surrogate_id).count() == 1
    made.market.call("marketplace_clock", "--advance", "7300")
    try:
        Errand.objects.filter(kind="reject").update(due_at=timezone.now())
        made.round()
        assert (Ticket.objects.get().state, Errand.objects.get(kind="reject").state) == ("approved", "failed")
        assert paid(made) == 10
    finally:
        made.market.call("marketplace_clock", "--reset")


@pytest.mark.parametrize("days", [2, 31])
def test_an_appeal_is_paid_by_override_and_after_thirty_days_by_bonus(desk, days):
    made = desk(items=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    boss = factories.user()
    ticket = Ticket.objects.get()
    ticket_refuse(ticket=ticket, reason="Wrong.", actor_id=boss.surrogate_id, due_at=timezone.now(), now=timezone.now())
    made.round()
    assert Ticket.objects.get().state == "refused"
    made.market.call("marketplace_clock", "--advance", str(days * 86_400))
    try:
        Ticket.objects.update(submitted_at=timezone.now() - timedelta(days=days))
        ticket.refresh_from_db()
        with transaction.atomic():
            refusal_take_back(ticket=ticket, reason="It was right.", actor_id=boss.surrogate_id, now=timezone.now())
        made.round()
        made.round()
        assert LedgerEntry.objects.get().kind == ("reward" if days == 2 else "bonus")
        assert made.money()["paid"] == 10
    finally:
        made.market.call("marketplace_clock", "--reset")


def test_the_pay_of_someone_who_is_paused_waits_for_a_manager_but_not_for_ever(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    surrogate_id = Ticket.objects.get().surrogate_id
    with transaction.atomic():
        pay_hold(campaign=made.campaign, surrogate_id=surrogate_id, until=timezone.now() + timedelta(hours=5))
    made.round()
    made.round()
    assert not Errand.objects.filter(kind="approve").exists()
    with transaction.atomic():
        pay_hold(campaign=made.campaign, surrogate_id=surrogate_id, until=timezone.now() - timedelta(seconds=1))
    made.round()
    assert paid(made) == 10


def test_someone_who_did_the_training_and_finds_nothing_left_hands_in_and_is_paid(desk):
    made = desk(items=1, n=1, has_training=True, terms={"training_bonus_cents": 25})
    made.round()
    late = made.worker("late")
    taken = late.take()
    other = factories.annotator(made.campaign)
    Participation.objects.create(campaign=made.campaign, surrogate=other.surrogate, trained_at=timezone.now())
    factories.vote(made.campaign, other, 4)
    late.finish(taken)
    made.round()
    made.round()
    assert Ticket.objects.get().state == "approved"
    assert not Ticket.objects.get().work.exists()
    assert paid(made) == 10 + 25


def test_hourly_pay_leaves_out_the_bonus_for_a_training_whose_time_is_not_measured(desk):
    made = desk(items=1, n=1, has_training=True, terms={"training_bonus_cents": 25})
    made.round()
    made.worker("trained").work()
    made.round()
    made.round()
    assert paid(made) == 10 + 25
    [seconds] = Annotation.objects.filter(campaign=made.campaign).values_list("seconds", flat=True)
    assert wages_of(made.campaign)["wall"]["median"] == round(10 * 3600 / seconds)


def test_work_that_could_not_be_handed_in_is_paid_by_a_posting_for_one(desk):
    made = desk(items=1, n=1)
    made.round()
    worker = made.worker("unlucky")
    taken = worker.take()
    worker.in_frame(taken, until="externalSubmit")
    worker.browser.send(taken.give_back)  # the frame broke, say
    boss = factories.user()
    surrogate_id = Ticket.objects.get().surrogate_id
    posting_end(posting=Posting.objects.get(), now=timezone.now())
    compensation_post(
        workforce=made.workforce,
        surrogate_id=surrogate_id,
        cents=10,
        reason="Your work of today was lost.",
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    made.round()
    other = made.worker("other")
    assert "Payment for work you did" not in other.browser.get(other.market_url + "/").text
    assert "Payment for work you did" in worker.browser.get(worker.market_url + "/").text
    assert worker.work() == "handed_in"
    made.round()
    made.round()
    assert paid(made) == 10


def test_what_is_listed_after_a_refusal_of_pay_waits_for_a_manager(desk):
    made = desk(items=2, n=1, terms={"places": 1})
    made.round()
    worker = made.worker("a")
    worker.work()  # submitted, and nobody has listed it yet
    person = Ticket.objects.get().surrogate_id
    with transaction.atomic():
        refused = tickets_refuse(
            campaign=made.campaign,
            surrogate_id=person,
            reason="Copied.",
            actor_id=None,
            due_at=timezone.now(),
            now=timezone.now(),
        )
    assert refused == 0
    for _ in range(3):
        made.round()
    ticket = Ticket.objects.get()
    assert (ticket.state, ticket.problem) == ("unmatched", "Pay for other work of this annotator was refused")
    assert not LedgerEntry.objects.exists() and not Errand.objects.filter(kind="approve").exists()
    with transaction.atomic():
        pay_refusal_end(campaign=made.campaign, surrogate_id=person)
    ticket_accept(ticket=ticket, actor_id=None, now=timezone.now())
    with transaction.atomic():  # a later refusal takes back nothing that a manager accepted
        refused = tickets_refuse(
            campaign=made.campaign,
            surrogate_id=person,
            reason="Once more.",
            actor_id=None,
            due_at=timezone.now(),
            now=timezone.now(),
        )
    assert refused == 0
    for _ in range(2):
        made.round()
    assert (Ticket.objects.get().state, LedgerEntry.objects.count()) == ("approved", 1)
