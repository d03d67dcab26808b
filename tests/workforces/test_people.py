"""Workers of a marketplace as annotators: kept out, suspended, reinstated, withdrawn, asked again."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import ExternalIdentity
from annotation.models import Annotation, Slot, Standing
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import participation_withdraw, withdrawals_apply
from annotation.slots.services.exclusions import annotation_exclude
from quality.models import Review
from quality.people.services.reviews import review_decide
from quality.policies.policy import Policy
from tests import factories
from tests.workforces.acts import paid, stale
from workforces.models import Errand, Posting, Ticket, TicketWork
from workforces.services.refusals import ticket_refuse
from workforces.services.statements import statement_path

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_a_worker_on_many_hits_of_a_campaign_meets_no_item_twice_and_is_kept_out_when_all_are_seen(desk):
    made = desk(items=2, n=3)
    made.round()
    worker = made.worker("busy")
    for _ in range(2):
        worker.work()
        made.round()
    items = list(Annotation.objects.values_list("item_id", flat=True))
    assert len(items) == len(set(items)) == 2
    stale(made, 0)
    made.round()  # what nobody took is posted again
    stale(made, 86_400)
    made.round()
    assert worker.work() == "returned"  # there is no item for this person
    made.round()
    assert Errand.objects.filter(kind="grant", state="confirmed").count() == 1
    assert worker.work() == "nothing"  # nothing is offered any more
    stale(made, 0)
    made.round()  # what nobody took is posted again, and everybody may look again
    assert Errand.objects.filter(kind="revoke", state="confirmed").count() == 1


def test_someone_who_is_reinstated_may_take_postings_again(desk):
    made = desk(items=3, n=1, gold=6, policy=Policy(gold_rate=0, gold_first=3, gold_first_items=3))
    made.round()
    worker = made.worker("back", says=1)
    for _ in range(3):
        worker.work()
        made.round()
    factories.examine(made.campaign)
    made.round()
    assert worker.work() in ("returned", "nothing")
    made.round()
    assert Errand.objects.filter(kind="grant", state="confirmed").exists()
    boss = factories.user()
    review_decide(
        review=Review.objects.get(),
        suspend=False,
        reason="",
        refuse_pay=False,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    made.round()
    assert Errand.objects.filter(kind="revoke", state="confirmed").exists()
    made.round()
    assert worker.work() == "handed_in"


def test_work_confirmed_after_a_suspension_or_a_withdrawal_does_not_count(desk):
    made = desk(items=2, n=1)
    made.round()
    for name in ("suspended", "withdrawn"):
        made.worker(name).work()
    first, second = Ticket.objects.order_by("pk")
    with transaction.atomic():
        standing_move(
            campaign=made.campaign,
            surrogate_id=first.surrogate_id,
            to=Standing.SUSPENDED,
            actor_id=None,
            now=timezone.now(),
        )
    participation_withdraw(campaign=made.campaign, surrogate_id=second.surrogate_id, now=timezone.now())
    made.round()
    made.round()
    assert not Annotation.objects.filter(state="counted").exists()
    assert Slot.objects.filter(state="open").count() == 2
    assert paid(made) == 20  # it was done, and nobody refused it


def test_someone_from_a_marketplace_can_take_consent_back_and_is_paid_all_the_same(desk):
    made = desk(items=2, n=1)
    made.round()
    made.worker("leaver").work()
    made.round()
    ticket = Ticket.objects.get()
    path = statement_path(ticket)
    client = Client()
    assert client.get(path).status_code == 200
    client.post(path, {"withdraw": ""})
    assert Annotation.objects.get().state == "counted"  # nothing happens before it was confirmed
    page = client.post(path, {"withdraw": "yes"}, follow=True)
    assert b"still paid" in page.content
    assert Annotation.objects.get().state == "counted"  # and then there are seven days to think again
    withdrawals_apply(timezone.now() + timedelta(days=7))
    annotation = Annotation.objects.get()
    assert (TicketWork.objects.count(), annotation.state) == (0, "withdrawn")
    assert annotation.surrogate_id != ticket.surrogate_id
    made.round()
    made.round()
    assert paid(made) == 10
    assert client.get("/statement/nonsense/").status_code == 404


def test_refusing_and_excluding_work_asks_for_it_again_in_a_new_posting(desk):
    made = desk(items=1, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    made.round()
    boss = factories.user()
    ticket_refuse(
        ticket=Ticket.objects.get(),
        reason="Wrong.",
        actor_id=boss.surrogate_id,
        due_at=timezone.now(),
        now=timezone.now(),
    )
    annotation_exclude(
        annotation=Annotation.objects.get(), because="quality", actor_id=boss.surrogate_id, now=timezone.now()
    )
    made.round()
    assert Posting.objects.filter(state="open").count() == 1
    assert made.worker("b").work() == "handed_in"
    made.round()
    assert Annotation.objects.get(state="counted").slot == Slot.objects.get()


def test_a_person_can_be_forgotten_from_their_statement_once_everything_is_paid(desk):
    made = desk(items=2, n=1)
    made.round()
    made.worker("leaver").work()
    path, client = statement_path(Ticket.objects.get()), Client()
    assert b'name="erase"' not in client.get(path).content
    assert b'value="yes"' in client.get(f"{path}?erase").content
    page = client.post(path, {"erase": "yes"}, follow=True)
    assert b"decided on or paid yet" in page.content
    assert ExternalIdentity.objects.exists()
    for _ in range(3):
        made.round()
    assert paid(made) == 10
    client.post(path, {"erase": ""})
    assert ExternalIdentity.objects.exists()
    assert b"Your ID was deleted" in client.post(path, {"erase": "yes"}).content
    assert not ExternalIdentity.objects.exists()
    assert client.get(path).status_code == 404
    assert Annotation.objects.get().state == "counted"
    made.round()
    assert paid(made) == 10
