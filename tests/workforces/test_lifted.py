"""Who was suspended without pay and comes back is paid: their work counts again."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation
from quality.models import Review
from tests import factories
from tests.workforces.acts import paid
from workforces.kinds.mturk.postings import compensation_post, postings_adjust
from workforces.models import Appeal, Errand, Posting, Ticket
from workforces.services.appeals import appeal_decide, appeal_open
from workforces.services.confirmations import ticket_accept
from workforces.services.outbox import errand_retry
from workforces.services.refusals import ticket_refuse
from workforces.services.statements import statement_path
from workforces.services.workforces import workforce_add

TERMS = {"approve_after_seconds": 3600, "undo_seconds": 600}


@pytest.fixture
def suspended(desk):
    """Return a desk, a manager's client and a ticket whose author was suspended and refused pay, which is not sent yet."""
    made = desk(items=1, n=1, terms=TERMS)
    made.round()
    assert made.worker("w").work() == "handed_in"
    made.round()
    manager, boss = factories.user(), Client()
    factories.join(made.campaign, manager, Role.MANAGER)
    boss.force_login(manager)
    ticket, slug = Ticket.objects.get(), made.campaign.slug
    boss.post(reverse("quality-person", args=[slug, ticket.surrogate_id]), {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[slug, "review", Review.objects.get().pk])
    boss.post(decide, {"choice": "refuse", "reason": "All wrong."})
    factories.run_jobs()
    assert Annotation.objects.get().state == "excluded"
    return made, boss, ticket


def send(made):
    """Let what is due be sent, and read what became of it."""
    Errand.objects.filter(state="due").update(due_at=timezone.now())
    for _ in range(3):
        made.hurry()
        made.round()


def lift(made, boss, ticket, way):
    slug = made.campaign.slug
    if way == "page":
        page = reverse("quality-person", args=[slug, ticket.surrogate_id])
        boss.post(page, {"act": "reinstate", "reason": "My mistake."})
    else:
        Client().post(f"{statement_path(ticket)}standing/", {"text": "Look again."})
        decide = reverse("quality-decide", args=[slug, "suspension", Review.objects.get().pk])
        boss.post(decide, {"choice": "lift", "reason": "You were right."})
    factories.run_jobs()
    assert Annotation.objects.get().state == "counted"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_sent", [False, True])
@pytest.mark.parametrize("way", ["page", "appeal"])
def test_who_comes_back_is_paid_whether_or_not_the_refusal_was_sent(suspended, way, is_sent):
    made, boss, ticket = suspended
    if is_sent:
        send(made)
        assert Ticket.objects.get().state == "refused"
    lift(made, boss, ticket, way)
    if not is_sent:
        Ticket.objects.update(submitted_at=timezone.now() - timedelta(hours=2))
    send(made)
    assert Ticket.objects.get().state == "approved"
    assert paid(made) == 10


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("grant", [False, True])
def test_an_appeal_about_that_pay_is_granted_with_it_and_pays_nothing_more(suspended, grant):
    made, boss, ticket = suspended
    send(made)
    appeal = appeal_open(ticket=Ticket.objects.get(), text="Please.", now=timezone.now())
    appeal_decide(appeal=appeal, grant=grant, answer="So.", actor_id=factories.user().surrogate_id, now=timezone.now())
    lift(made, boss, ticket, "page")
    send(made)
    assert Appeal.objects.get().state == "granted"
    assert paid(made) == 10


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_what_was_refused_for_itself_stays_refused_when_a_suspension_is_lifted(desk):
    made = desk(items=1, n=1, terms=TERMS)
    made.round()
    assert made.worker("w").work() == "handed_in"
    made.round()
    boss, now = factories.user(is_admin=True), timezone.now()
    ticket_refuse(ticket=Ticket.objects.get(), reason="Empty.", actor_id=boss.surrogate_id, due_at=now, now=now)
    send(made)
    page, client = reverse("quality-person", args=[made.campaign.slug, Ticket.objects.get().surrogate_id]), Client()
    client.force_login(boss)
    for act in ("suspend", "reinstate"):
        client.post(page, {"act": act, "reason": "Why."})
        factories.run_jobs()
    send(made)
    assert Ticket.objects.get().state == "refused"
    assert paid(made) == 0


def suspend(made, boss, ticket):
    """Pause, then suspend and refuse pay, as under Decisions."""
    slug = made.campaign.slug
    boss.post(reverse("quality-person", args=[slug, ticket.surrogate_id]), {"act": "pause", "reason": "Odd."})
    decide = reverse("quality-decide", args=[slug, "review", Review.objects.get(state="open").pk])
    boss.post(decide, {"choice": "refuse", "reason": "All wrong."})
    factories.run_jobs()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_who_is_suspended_twice_while_the_marketplace_is_away_is_paid_in_the_end(suspended, settings):
    made, boss, ticket = suspended
    there, settings.MTURK_ENDPOINT_URL = settings.MTURK_ENDPOINT_URL, "http://127.0.0.1:9"
    Errand.objects.filter(state="due").update(due_at=timezone.now())
    made.round()
    assert Errand.objects.get(kind="reject").state == "sending"
    lift(made, boss, ticket, "page")
    suspend(made, boss, ticket)
    settings.MTURK_ENDPOINT_URL = there
    send(made)
    lift(made, boss, ticket, "page")
    Ticket.objects.filter(state="submitted").update(submitted_at=timezone.now() - timedelta(hours=2))
    send(made)
    assert paid(made) == 10


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", ["due", "failed"])
def test_who_was_refused_at_the_marketplace_itself_is_paid_with_the_lift(suspended, state):
    made, boss, ticket = suspended
    later = timezone.now() + timedelta(hours=1)
    Errand.objects.filter(kind="reject").update(state=state, due_at=later)
    made.client.reject_assignment(AssignmentId=ticket.remote_id, RequesterFeedback="No.")
    made.round()
    assert Ticket.objects.get().state == "refused"
    lift(made, boss, ticket, "page")
    send(made)
    assert paid(made) == 10


def market_of(campaign):
    return workforce_add(campaign=campaign, kind="mturk", terms={}, actor_id=None, now=timezone.now())


@pytest.mark.django_db
def test_a_refusal_that_failed_is_not_tried_again_once_the_work_was_accepted():
    campaign, boss, now = factories.antique(items=1, n=1), factories.user().surrogate_id, timezone.now()
    ticket = Ticket.objects.create(
        workforce=market_of(campaign),
        surrogate_id=factories.user().surrogate_id,
        remote_id="A1",
        code="c",
        is_signed=True,
        state="unmatched",
        problem="no code",
        opened_at=now,
        submitted_at=now,
    )
    ticket_refuse(ticket=ticket, reason="No code.", actor_id=boss, due_at=now, now=now)
    Errand.objects.update(state="failed")
    assert ticket_accept(ticket=ticket, actor_id=boss, now=now)
    assert not errand_retry(errand=Errand.objects.get(), actor_id=boss, now=now)
    assert Errand.objects.get().state == "undone"


@pytest.mark.django_db
def test_a_posting_for_what_one_person_is_owed_can_be_tried_again():
    campaign, boss, now = factories.antique(items=1, n=1), factories.user().surrogate_id, timezone.now()
    row = market_of(campaign)
    compensation_post(
        workforce=row, surrogate_id=factories.user().surrogate_id, cents=10, reason="Lost work.", actor_id=boss, now=now
    )
    Errand.objects.update(state="failed")
    postings_adjust(workforce=row, now=now)
    assert Posting.objects.get(owed_to__isnull=False).state == "wanted"
    assert errand_retry(errand=Errand.objects.get(), actor_id=boss, now=now)
    assert Errand.objects.get().state == "sending"
