"""Appeals against a refusal of pay, and decisions about them that are taken back."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.identities import external_surrogate
from tests import factories
from tests.workforces.acts import answer_one, hits, rounds
from tests.workforces.conftest import TERMS
from tests.workforces.test_who_counts import hand_in
from workforces.models import Appeal, Errand, Ticket
from workforces.services.appeals import AppealError, appeal_decide, appeal_open
from workforces.services.outbox import errand_retry, errand_undo
from workforces.services.pay_errands import refusal_make_good
from workforces.services.workforces import workforce_add


def granted(days=1):
    """Return an appeal that was granted, its ticket, and what pays it."""
    campaign, boss = factories.antique(items=2, n=1), factories.user().surrogate_id
    row = workforce_add(campaign=campaign, kind="mturk", terms=TERMS, actor_id=None, now=timezone.now())
    person, then = external_surrogate(source=row.source, name="W1"), timezone.now() - timedelta(days=days)
    ticket = Ticket.objects.create(
        workforce=row,
        surrogate_id=person,
        remote_id="A1",
        code="c",
        is_signed=True,
        state="refused",
        opened_at=then,
        submitted_at=then,
        decided_at=then,
    )
    appeal = appeal_open(ticket=ticket, text="Please.", now=timezone.now())
    return appeal, ticket, boss


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "kind"), [(1, "approve"), (40, "bonus")])
def test_an_appeal_whose_payment_is_undone_waits_again_and_can_be_granted_again(days, kind):
    appeal, ticket, boss = granted(days)
    for turn in ("first", "again"):
        appeal_decide(appeal=appeal, grant=True, answer=f"Right, {turn}.", actor_id=boss, now=timezone.now())
        errand = Errand.objects.get(ticket=ticket, kind=kind, state__in=["due", "sending"])
        if turn == "first":
            assert errand_undo(errand=errand, actor_id=boss, now=timezone.now())
            appeal.refresh_from_db()
            assert (appeal.state, appeal.answer, appeal.decided_at) == ("open", "", None)
    assert Appeal.objects.get().state == "granted"
    assert Errand.objects.filter(ticket=ticket, state__in=["due", "sending"]).count() == 1  # paid once


@pytest.mark.django_db(transaction=True)
def test_who_has_no_statement_is_told_of_none(desk):
    made = desk(items=2, n=3, sign=False, terms={"undo_seconds": 0, "reward_cents": 50})
    made.round()
    frame = made.worker("w").take().frame
    answer_one(frame)
    hand_in(frame)  # without our code: nobody vouches for who this is
    made.round()
    ticket, boss = Ticket.objects.get(), Client()
    boss.force_login(factories.user(is_admin=True))
    decide = reverse("quality-decide", args=[made.campaign.slug, "ticket", ticket.pk])
    boss.post(decide, {"choice": "refuse", "reason": "There is no code."})
    rounds(made)
    ticket.refresh_from_db()
    assert ticket.state == "refused"
    [answer] = [
        one for hit in hits(made) for one in made.client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    ]
    assert answer["RequesterFeedback"].strip() == "There is no code."


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["due", "sending", "confirmed", "failed"])
def test_an_appeal_that_a_bonus_pays_stays_granted_when_the_failed_override_is_given_up(state):
    appeal, ticket, boss = granted()
    appeal_decide(appeal=appeal, grant=True, answer="Right.", actor_id=boss, now=timezone.now())
    override = Errand.objects.get(kind="approve")
    with transaction.atomic():
        bonus = refusal_make_good(ticket=ticket, reason="Right.", actor_id=None, now=timezone.now())
    Errand.objects.filter(pk=override.pk).update(state="failed")
    Errand.objects.filter(pk=bonus.pk).update(state=state)
    assert not errand_retry(errand=override, actor_id=boss, now=timezone.now())
    assert errand_undo(errand=override, actor_id=boss, now=timezone.now())
    assert Appeal.objects.get().state == "granted"


@pytest.mark.django_db
def test_an_override_that_failed_is_tried_again_where_nothing_else_pays():
    appeal, ticket, boss = granted()
    Errand.objects.create(
        workforce=ticket.workforce, kind="reject", state="confirmed", ticket=ticket, token="r", due_at=timezone.now()
    )
    appeal_decide(appeal=appeal, grant=True, answer="Right.", actor_id=boss, now=timezone.now())
    override = Errand.objects.get(kind="approve")
    with transaction.atomic():
        bonus = refusal_make_good(ticket=ticket, reason="Right.", actor_id=None, now=timezone.now())
    assert errand_undo(errand=bonus, actor_id=boss, now=timezone.now())
    Errand.objects.filter(pk=override.pk).update(state="failed")
    assert errand_retry(errand=override, actor_id=boss, now=timezone.now())


@pytest.mark.django_db
def test_a_bonus_is_not_sent_after_all_when_an_override_paid():
    appeal, ticket, boss = granted(days=40)
    appeal_decide(appeal=appeal, grant=True, answer="Right.", actor_id=boss, now=timezone.now())
    bonus = Errand.objects.get(kind="bonus")
    Errand.objects.filter(pk=bonus.pk).update(state="failed")
    Ticket.objects.filter(pk=ticket.pk).update(state="approved")
    assert not errand_retry(errand=bonus, actor_id=boss, now=timezone.now())
    assert errand_undo(errand=bonus, actor_id=boss, now=timezone.now())
    assert Appeal.objects.get().state == "granted"  # it is paid


@pytest.mark.django_db
def test_an_appeal_about_what_is_paid_meanwhile_pays_nothing_more():
    appeal, ticket, boss = granted(days=40)
    Ticket.objects.filter(pk=ticket.pk).update(state="approved")
    with pytest.raises(AppealError, match="already been paid"):
        appeal_decide(appeal=appeal, grant=False, answer="No.", actor_id=boss, now=timezone.now())
    appeal_decide(appeal=appeal, grant=True, answer="Yes.", actor_id=boss, now=timezone.now())
    assert (Appeal.objects.get().state, Errand.objects.count()) == ("granted", 0)
