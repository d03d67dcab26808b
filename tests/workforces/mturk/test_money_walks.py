"""Random walks over refusals, appeals, bonuses and a marketplace that fails: nobody is paid twice, or forgotten."""

import random
from contextlib import suppress

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from django.db import transaction
from django.utils import timezone

from tests import factories
from tests.workforces.acts import fault, hits, lose_the_answer, paid
from workforces.models import Appeal, AppealState, Errand, Ticket, TicketState
from workforces.services.appeals import AppealError, appeal_decide, appeal_open
from workforces.services.outbox import appeal_token, errand_retry, errand_undo
from workforces.services.pay_errands import refusal_make_good
from workforces.services.refusals import ticket_refuse

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PEOPLE, STEPS = 8, 120
CALLS = ("ApproveAssignment", "RejectAssignment", "SendBonus", "GetAssignment")


class Walk:
    """Tickets of a marketplace, and what managers, people and chance do about their pay."""

    def __init__(self, made, seed):
        self.made, self.chance = made, random.Random(seed)
        self.boss, self.is_late = factories.user(), False
        self.acts = [
            self.refuse,
            self.appeal,
            self.appeal,
            self.decide,
            self.decide,
            self.decide,
            self.undo,
            self.retry,
            self.approve_there,
            self.refuse_there,
            self.lose,
            self.fail,
            self.round,
            self.round,
            self.round,
            self.month,
        ]

    def step(self):
        """Let one thing happen."""
        self.chance.choice(self.acts)()

    def ticket(self):
        return self.chance.choice(Ticket.objects.order_by("pk"))

    def refuse(self, ticket=None):
        now = timezone.now()
        ticket_refuse(
            ticket=ticket or self.ticket(), reason="Wrong.", actor_id=self.boss.surrogate_id, due_at=now, now=now
        )

    def appeal(self):
        with suppress(AppealError):
            appeal_open(ticket=self.ticket(), text="Look again.", now=timezone.now())

    def decide(self, grant=None):
        for appeal in Appeal.objects.filter(state=AppealState.OPEN).order_by("pk")[:1]:
            granted = self.chance.random() < 0.8 if grant is None else grant
            with suppress(AppealError):
                appeal_decide(
                    appeal=appeal, grant=granted, answer="So.", actor_id=self.boss.surrogate_id, now=timezone.now()
                )

    def undo(self):
        self.with_errand(errand_undo, "due", "failed")

    def retry(self):
        self.with_errand(errand_retry, "failed")

    def with_errand(self, act, *states):
        """Let the manager do something about one of the errands in some states."""
        errands = list(Errand.objects.filter(state__in=states, ticket__isnull=False).order_by("pk"))
        if errands:
            act(errand=self.chance.choice(errands), actor_id=self.boss.surrogate_id, now=timezone.now())

    def approve_there(self):
        self.there(self.made.client.approve_assignment)

    def refuse_there(self):
        self.there(self.made.client.reject_assignment, RequesterFeedback="No.")

    def there(self, call, **more):
        """Decide at the marketplace itself, as a requester with its own tools."""
        if self.chance.random() < 0.3:
            with suppress(BotoCoreError, ClientError):
                call(AssignmentId=self.ticket().remote_id, **more)

    def lose(self):
        lose_the_answer(self.made, self.chance.choice(CALLS))

    def fail(self):
        fault(self.made, self.chance.choice(CALLS), self.chance.choice(["error-500", "throttle", "drop-before"]), 3)

    def month(self):
        """Move the marketplace's clock a month on, or back: while it is late, no refusal can be taken back."""
        self.is_late = not self.is_late
        self.made.market.call("marketplace_clock", *(["--advance", str(31 * 86_400)] if self.is_late else ["--reset"]))

    def round(self):
        self.made.hurry()
        self.made.round()

    def settle(self):
        """Let the marketplace work, and a patient manager try what failed, until nothing moves."""
        self.made.market.call("marketplace_fault", "--clear")
        for _ in range(6):
            self.round()
            for errand in Errand.objects.filter(state="failed").order_by("pk"):
                errand_retry(errand=errand, actor_id=self.boss.surrogate_id, now=timezone.now())
        self.round()

    def payments(self):
        """Return how often the marketplace paid for each ticket's work, by reward and as what makes a refusal good."""
        found = {}
        for ticket in Ticket.objects.order_by("pk"):
            assignment = self.made.client.get_assignment(AssignmentId=ticket.remote_id)["Assignment"]
            sent = self.made.client.list_bonus_payments(AssignmentId=ticket.remote_id)["BonusPayments"]
            mark = f"(ref {appeal_token(ticket.pk)[-24:]})"
            bonuses = sum(bonus["Reason"].endswith(mark) for bonus in sent)
            found[ticket] = int(assignment["AssignmentStatus"] == "Approved") + bonuses
        return found


@pytest.fixture
def walk(desk, request):
    made = desk(items=1, n=PEOPLE, terms={"approve_after_seconds": 3600})
    made.round()
    for number in range(PEOPLE):
        assert made.worker(f"w{number}").work() == "handed_in"
    made.round()
    yield Walk(made, request.param)
    made.market.call("marketplace_fault", "--clear")
    made.market.call("marketplace_clock", "--reset")


def test_what_was_approved_at_the_marketplace_itself_is_not_made_good_by_a_bonus_too(desk):
    made = desk(items=1, n=1, terms={"approve_after_seconds": 3600})
    made.round()
    made.worker("a").work()
    made.round()
    ticket, boss, now = Ticket.objects.get(), factories.user(), timezone.now()
    ticket_refuse(ticket=ticket, reason="Wrong.", actor_id=boss.surrogate_id, due_at=now, now=now)
    made.round()
    with transaction.atomic():
        refusal_make_good(ticket=ticket, reason="It was right.", actor_id=boss.surrogate_id, now=now)
    made.client.approve_assignment(AssignmentId=ticket.remote_id, OverrideRejection=True)
    made.round()
    assert Ticket.objects.get().state == TicketState.APPROVED
    assert paid(made) == 10


@pytest.mark.parametrize("walk", range(3), indirect=True)
def test_whatever_happens_to_a_refusal_nobody_is_paid_twice_and_who_is_granted_is_paid(walk):
    assert len(hits(walk.made)) == 1
    for ticket in Ticket.objects.order_by("pk"):
        walk.refuse(ticket)
    walk.round()
    for _ in range(STEPS):
        walk.step()
    walk.settle()
    paid_for = walk.payments()
    granted = set(Appeal.objects.filter(state=AppealState.GRANTED).values_list("ticket", flat=True))
    for ticket, times in paid_for.items():
        story = list(ticket.errands.order_by("pk").values_list("kind", "token", "state", "text", "error"))
        assert times <= 1, (ticket, story)
        assert times == 1 or ticket.pk not in granted, (ticket, story)
        assert times == 1 or ticket.state != TicketState.APPROVED, (ticket, story)
    paid(walk.made)  # the books agree
