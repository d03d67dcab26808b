"""Errands to a marketplace that fails, forgets or answers late (facts on the protocol, section 4)."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Annotation
from quality.models import Verdict
from tests import factories
from tests.marketplace.served import served
from tests.workforces.acts import answer, arrive, fault, hits, lose_the_answer, paid
from tests.workforces.conftest import TERMS, Desk
from workforces.kinds.mturk import postings
from workforces.kinds.mturk.client import Market
from workforces.models import Errand, LedgerEntry, Posting, Ticket, Workforce
from workforces.services.outbox import errand_add, errand_retry
from workforces.services.pay import bonus_grant

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
CALLS_IN_FLIGHT = 4  # as an installation has it


def test_a_lost_answer_to_create_hit_makes_no_second_hit(desk):
    made = desk(items=1)
    lose_the_answer(made, "CreateHIT")
    made.round()
    assert Errand.objects.get(kind="publish").state == "sending"
    made.hurry()
    made.round()
    assert [hit["HITId"] for hit in hits(made)] == [Posting.objects.get().hit_id]
    assert Posting.objects.get().state == "open"


def test_a_lost_answer_to_send_bonus_pays_once(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    lose_the_answer(made, "SendBonus")
    made.round()
    assert Errand.objects.get(kind="bonus").state == "sending"
    made.hurry()
    made.round()
    assert LedgerEntry.objects.filter(kind="bonus").count() == 1
    assert paid(made) == 10 + 7


@pytest.mark.parametrize("what", ["publish", "bonus"])
def test_an_outage_longer_than_the_token_lives_does_nothing_twice(desk, what):
    """The call got through, we died, and the marketplace has forgotten the token: the truth is read back."""
    made = desk(items=1)
    if what == "bonus":
        made.round()
        made.worker("a").work()
        made.round()
        bonus_grant(
            ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
        )
    lose_the_answer(made, "CreateHIT" if what == "publish" else "SendBonus")
    made.round()
    errand = Errand.objects.get(kind=what)
    assert errand.state == "sending"
    made.market.call("marketplace_clock", "--advance", "90000")
    try:
        Errand.objects.filter(pk=errand.pk).update(sending_since=timezone.now() - timedelta(hours=25))
        made.hurry()
        made.round()
        errand.refresh_from_db()
        assert errand.state == "confirmed"
        if what == "publish":
            assert len(hits(made)) == 1
        else:
            assert paid(made) == 17
    finally:
        made.market.call("marketplace_clock", "--reset")


def test_a_bonus_that_fails_does_not_keep_the_approval_from_being_sent(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    Workforce.objects.update(terms={**TERMS, "approve_after_seconds": 0})
    fault(made, "SendBonus", "throttle", 3)
    made.round()
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    made.round()
    assert Ticket.objects.get().state == "approved"
    made.hurry()
    made.round()
    assert paid(made) == 17


def test_one_hit_that_is_gone_stops_nothing_else(desk):
    made = desk(items=2, n=1)
    made.round()
    made.worker("a").work()
    first = Posting.objects.get(tickets=None)
    Posting.objects.filter(pk=first.pk).update(hit_id="3GONEGONEGONEGONEGONEGONE", tried_at=None)
    made.round()
    made.round()
    assert Annotation.objects.filter(state="counted").count() == 1
    assert Posting.objects.get(pk=first.pk).state == "settled"


def test_an_errand_that_breaks_does_not_keep_the_others_from_being_done(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    with transaction.atomic():
        errand_add(workforce=made.workforce, kind="expire", due_at=timezone.now() - timedelta(days=1))  # of no posting
    bonus_grant(
        ticket=Ticket.objects.get(), cents=7, reason="Careful", actor_id=None, now=timezone.now(), token="careful"
    )
    made.round()
    assert Errand.objects.get(kind="expire", posting=None).state == "failed"
    assert paid(made) == 17


def test_when_a_posting_is_refused_nothing_more_is_posted_until_a_person_looked(desk):
    made = desk(items=4, n=1, terms={"title": "x" * 200})
    for _ in range(4):
        made.round()
    failed = Errand.objects.filter(kind="publish", state="failed")
    assert 1 <= failed.count() <= 4
    before = Posting.objects.count()
    made.round()
    assert Posting.objects.count() == before
    # Tried again, a posting that was given up is not sent: what is wanted is posted again, within the cap.
    errand, boss = failed.first(), factories.user().surrogate_id
    assert errand.posting.state == "settled"
    assert errand_retry(errand=errand, actor_id=boss, now=timezone.now())
    errand.refresh_from_db()
    assert errand.state == "undone"


def test_an_id_that_this_marketplace_does_not_know_goes_to_a_person(desk):
    made = desk(items=1)
    made.round()
    client, page = arrive(made, "ANOBODYHERE", "3ONE")
    answer(client, page)
    Ticket.objects.update(state="submitted", submitted_at=timezone.now())
    made.round()
    errand = Errand.objects.get(kind="approve")
    assert errand.state == "failed"
    assert not LedgerEntry.objects.exists()


def test_no_call_to_the_marketplace_is_made_inside_a_transaction(desk, monkeypatch):
    inside = []
    call = Market._call

    def watched(self, operation, **arguments):
        # One level is the job's own savepoint-free step; the tests themselves open none.
        inside.append(connection.in_atomic_block)
        return call(self, operation, **arguments)

    monkeypatch.setattr(Market, "_call", watched)
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    assert inside
    assert not any(inside)


def test_a_posting_never_has_ten_places(desk):
    made = desk(items=1, n=12)
    made.round()
    assert {posting.places for posting in Posting.objects.all()} == {9, 3}
    for places in (0, 10):
        with pytest.raises(ValueError, match=f"HIT of {places} places"):
            postings._posting_add(made.workforce, places, made.workforce.terms, timezone.now())
    assert Posting.objects.count() == 2
    assert Errand.objects.filter(kind="publish").count() == 2


def test_polling_alone_is_enough_and_reading_twice_changes_nothing(desk):
    made = desk(items=1)
    made.round()
    made.worker("a").work()
    for _ in range(4):
        made.round()
    assert Annotation.objects.filter(state="counted").count() == 1
    assert LedgerEntry.objects.count() == 1


def test_a_marketplace_with_every_quirk_is_worked_with(tmp_path, transactional_db, live_server, settings):
    """Ids that are used again, workers' names twice, no address to submit to, work that cannot be decided yet."""
    quirks = {
        "MARKETPLACE_QUIRK_REUSE_ASSIGNMENT_IDS": "1",
        "MARKETPLACE_QUIRK_DOUBLED_WORKER_ID": "1",
        "MARKETPLACE_QUIRK_UNDECIDABLE_SECONDS": "2",
        "MARKETPLACE_QUIRK_INDEX_LAG_SECONDS": "1",
    }
    with served(tmp_path, **quirks) as market:
        campaign = factories.antique(items=2, n=2)
        made = Desk(market, campaign, live_server.url, settings, calls=4)
        made.round()
        crowd = [made.worker("a", returns=0.4), made.worker("b", returns=0.4)]
        for _ in range(12):
            for worker in crowd:
                worker.work()
            made.round()
        for _ in range(40):
            made.hurry()
            made.round()
            if not Ticket.objects.filter(state="submitted").exists():
                break
        factories.examine(campaign)
        assert Verdict.objects.filter(superseded_at=None).count() == 2
        assert not Errand.objects.filter(state="failed").exists()
        assert paid(made) == 40
