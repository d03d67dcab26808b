"""Money at the marketplace: caps, ceilings, lost replies, messages, books of people who were erased."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import ExternalIdentity
from accounts.services import external_erase, external_surrogate
from annotation.services.people import standing_move
from tests.workforces.test_pitfalls import arrive, fault, paid
from workforces.models import Errand, Posting, Ticket
from workforces.services.messages import person_message
from workforces.services.outbox import errand_add
from workforces.services.pay import PayError, bonus_grant, committed_cents
from workforces.services.reconcile import reconcile
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


def test_a_bonus_has_a_ceiling_and_stays_within_the_cap_and_one_token_is_one_bonus(desk):
    made = desk(items=1, terms={"cap_cents": 60, "most_bonus_cents": 40})
    made.round()
    made.worker("a").work()
    made.round()
    common = {"ticket": Ticket.objects.get(), "reason": "Careful", "actor_id": None, "now": timezone.now()}
    with pytest.raises(PayError, match="at most 40 cents"):
        bonus_grant(cents=41, token="much", **common)
    first = bonus_grant(cents=20, token="same", **common)
    assert bonus_grant(cents=20, token="same", **common).pk == first.pk
    with pytest.raises(PayError, match="cap"):
        bonus_grant(cents=20, token="more", **common)
    assert Errand.objects.filter(kind="bonus").count() == 1


def test_what_is_posted_stays_committed_at_its_own_terms(desk):
    """A reward that is lowered later does not free what the postings may still cost."""
    made = desk(items=4, n=3, terms={"reward_cents": 20, "cap_cents": 100})
    made.round()
    before = committed_cents(made.workforce)
    assert 0 < before <= 100
    workforce_add(
        campaign=made.campaign, kind="mturk", terms={**made.workforce.terms, "reward_cents": 1}, actor_id=None,
        now=timezone.now(),
    )  # fmt: skip
    made.round()
    assert before <= committed_cents(made.workforce) <= 100


def test_a_warning_reaches_the_person_at_the_marketplace_and_on_their_statement(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    ticket = Ticket.objects.get()
    with transaction.atomic():
        person_message(
            campaign=made.campaign, surrogate_id=ticket.surrogate_id, text="Please read the guidelines again.",
            token="t1", now=timezone.now(),
        )  # fmt: skip
        standing_move(
            campaign=made.campaign, surrogate_id=ticket.surrogate_id, to="warned", actor_id=None, now=timezone.now()
        )
    made.round()
    assert Errand.objects.get(kind="notify").state == "confirmed"
    page = Client().get(statement_path(workforce_id=made.workforce.pk, surrogate_id=ticket.surrogate_id))
    assert "Please read the guidelines again" in page.content.decode()


def test_the_books_are_compared_after_somebody_was_erased(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    identity = ExternalIdentity.objects.get(surrogate=Ticket.objects.get().surrogate_id)
    external_erase(identity=identity, actor_id=None, now=timezone.now())
    found = reconcile(workforce=made.workforce)
    assert (found.differences, found.rewards_ours, found.rewards_theirs) == ([], 10, 10)


def test_a_posting_that_somebody_works_on_slowly_is_not_replaced(desk):
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


def test_what_the_training_costs_stays_committed_until_its_bonus_is_due(desk):
    made = desk(items=2, n=1, terms={"training_bonus_cents": 25, "cap_cents": 500}, has_training=True)
    made.round()
    before = committed_cents(made.workforce)
    ticket = Ticket.objects.create(
        workforce=made.workforce, posting=Posting.objects.first(), remote_id="3X", code="c", opened_at=timezone.now(),
        surrogate_id=external_surrogate(source=made.workforce.source, name="ATRAINED"), trained=True,
    )  # fmt: skip
    assert committed_cents(made.workforce) == before
    with transaction.atomic():
        errand_add(
            workforce=made.workforce, kind="bonus", ticket=ticket, surrogate_id=ticket.surrogate_id, cents=25,
            due_at=timezone.now(), token=f"training-{made.workforce.pk}-{ticket.surrogate_id}",
        )  # fmt: skip
    assert committed_cents(made.workforce) == before


def test_the_last_word_on_letting_somebody_in_holds_whatever_order_the_errands_take(desk):
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
    Errand.objects.filter(pk=first.pk).update(due_at=now)
    made.round()
    made.round()
    assert set(Errand.objects.filter(pk__in=[first.pk, second.pk]).values_list("state", flat=True)) == {"confirmed"}
    held = made.client.list_workers_with_qualification_type(
        QualificationTypeId=made.workforce.remote["exclusion"], Status="Granted"
    )
    assert held["Qualifications"] == []
