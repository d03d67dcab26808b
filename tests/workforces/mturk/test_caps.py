"""What may be spent at the marketplace: caps, ceilings, and terms that change."""

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.identities import external_surrogate
from tests.workforces.acts import paid
from tests.workforces.conftest import TERMS
from workforces.models import Errand, LedgerEntry, Posting, Ticket
from workforces.services.outbox import errand_add
from workforces.services.pay import PayError, bonus_grant, committed_cents
from workforces.services.workforces import workforce_add


def test_a_bonus_has_a_ceiling_and_stays_within_the_cap_and_one_token_is_one_bonus(desk):
    made = desk(items=1, terms={"cap_cents": 60, "most_bonus_cents": 40})
    made.round()
    made.worker("a").work()
    made.round()
    common = {"ticket": Ticket.objects.get(), "reason": "Careful", "actor_id": None, "now": timezone.now()}
    with pytest.raises(PayError, match="at most 40 cents"):
        bonus_grant(cents=41, token="much", **common)
    for wrong in ({"cents": 0}, {"reason": " "}):
        with pytest.raises(PayError, match="an amount and a reason"):
            bonus_grant(**{**common, "cents": 5, "token": "wrong", **wrong})
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
        campaign=made.campaign,
        kind="mturk",
        terms={**made.workforce.terms, "reward_cents": 1},
        actor_id=None,
        now=timezone.now(),
    )
    made.round()
    assert before <= committed_cents(made.workforce) <= 100


def test_what_the_training_costs_stays_committed_until_its_bonus_is_due(desk):
    made = desk(items=2, n=1, terms={"training_bonus_cents": 25, "cap_cents": 500}, has_training=True)
    made.round()
    before = committed_cents(made.workforce)
    ticket = Ticket.objects.create(
        workforce=made.workforce,
        posting=Posting.objects.first(),
        remote_id="3X",
        code="c",
        opened_at=timezone.now(),
        surrogate_id=external_surrogate(source=made.workforce.source, name="ATRAINED"),
        trained=True,
    )
    assert committed_cents(made.workforce) == before
    with transaction.atomic():
        errand_add(
            workforce=made.workforce,
            kind="bonus",
            ticket=ticket,
            surrogate_id=ticket.surrogate_id,
            cents=25,
            due_at=timezone.now(),
            token=f"training-{made.workforce.pk}-{ticket.surrogate_id}",
        )
    assert committed_cents(made.workforce) == before


def test_the_cap_is_a_cap(desk):
    made = desk(items=5, n=1, terms={"cap_cents": 36})
    made.round()
    assert Posting.objects.count() == 3  # 12 cents each with the fee
    made.workforce.refresh_from_db()
    assert made.workforce.spent_stop
    worker = made.worker("a")
    for _ in range(8):
        worker.work()
        made.round()
    books = made.money()
    assert books["paid"] + books["fees"] == 36


def test_terms_that_change_do_not_change_what_was_posted(desk):
    made = desk(items=1)
    made.round()
    workforce_add(
        campaign=made.campaign, kind="mturk", terms={**TERMS, "reward_cents": 50}, actor_id=None, now=timezone.now()
    )
    made.worker("a").work()
    made.round()
    made.round()
    assert LedgerEntry.objects.get().cents == 10
    assert paid(made) == 10
