"""Life cycles and money under any order of events: a state machine, and lazy evaluation against the sweep."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import Count, Q, Sum
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from marketplace.models import Assignment, Hit, LedgerEntry
from marketplace.models.hits import LIVE
from marketplace.protocol.errors import RequestError
from marketplace.services import assignments, hits, requesters
from marketplace.services.assignments import WorkRefused
from marketplace.services.bonuses import bonus_send
from marketplace.services.due import AT_MOST_BEFORE_AN_ANSWER, due_carry_out
from marketplace.services.ledger import POTS, money_deposit
from marketplace.services.workers import worker_create
from tests.marketplace.conftest import HTML

START = datetime(2026, 11, 21, tzinfo=UTC)
WORKERS = 4


class Twin:
    """One requester whose HITs and assignments are addressed by their order."""

    def __init__(self, name, fees, deposit):
        self.requester = requesters.requester_create(name=name, fee_rules=fees, signs_frames=False, now=START)
        money_deposit(requester=self.requester, amount=deposit, now=START)
        self.hits = []
        self.assignments = []

    def snapshot(self):
        rows = Hit.objects.filter(requester=self.requester).order_by("pk")
        work = Assignment.objects.filter(requester=self.requester).order_by("pk")
        self.requester.refresh_from_db()
        return (
            list(
                rows.values_list(
                    "state",
                    "pending",
                    "undecided",
                    "completed",
                    "max_assignments",
                    "held",
                    "is_expired",
                    "reviewable_at",
                )
            ),
            list(
                work.values_list("state", "slot", "worker_id", "submitted_at", "approved_at", "rejected_at", "ended_at")
            ),
            [getattr(self.requester, pot) for pot in POTS],
        )


class Lives(RuleBasedStateMachine):
    """Everything happens to two requesters alike: one is swept after each step of time, the other never."""

    number = 0

    @initialize(fees=st.sampled_from(["published", "none"]), deposit=st.sampled_from(["3.00", "40.00"]))
    def begin(self, fees, deposit):
        Lives.number += 1
        self.now = START
        self.swept, self.lazy = (Twin(f"{name} {Lives.number}", fees, Decimal(deposit)) for name in ("swept", "lazy"))
        # People of its own: what earlier examples left in their hands would count towards the most that one may hold.
        self.crowd = [
            worker_create(email=f"c{Lives.number}-{who}@example.org", password=None, now=START, agreed_at=START)
            for who in range(WORKERS)
        ]

    def both(self, act):
        """Do the same to both and return what came of it, which has to be the same."""
        outcomes = []
        for twin in (self.swept, self.lazy):
            try:
                act(twin)
                outcomes.append("done")
            except RequestError as error:
                outcomes.append(error.code)
            except WorkRefused as refusal:
                outcomes.append(refusal.reason)
        assert outcomes[0] == outcomes[1]

    def ask(self, act):
        """Let the requesters ask for something, as the API does: what time has brought them comes first."""
        for twin in (self.swept, self.lazy):
            due_carry_out(now=self.now, requester=twin.requester, most=AT_MOST_BEFORE_AN_ANSWER)
        self.both(act)

    @rule(
        places=st.sampled_from([1, 2, 3, 9, 10]),
        life=st.sampled_from([60, 86_400, 3_000_000]),
        delay=st.sampled_from([0, 60, 2_592_000]),
        reward=st.sampled_from(["0.00", "0.01", "0.07", "1.25"]),
    )
    def create(self, places, life, delay, reward):
        def act(twin):
            kind = hits.TypeValues("t", "d", None, Decimal(reward), 600, delay, [])
            values = hits.HitValues(HTML, "HTMLQuestion", None, places, life, None, None)
            twin.hits.append(
                hits.hit_create(requester=twin.requester, hit_type=kind, values=values, token=None, now=self.now)
            )

        if len(self.swept.hits) < 4:
            self.ask(act)

    def has_hits(self):
        return bool(self.swept.hits)

    def has_work(self):
        return bool(self.swept.assignments)

    @precondition(has_hits)
    @rule(which=st.integers(0, 3), who=st.integers(0, WORKERS - 1))
    def accept(self, which, who):
        def act(twin):
            hit = twin.hits[which % len(twin.hits)]
            twin.assignments.append(
                assignments.assignment_accept(hit_id=hit.hit_id, worker=self.crowd[who], now=self.now)
            )

        self.both(act)

    @precondition(has_work)
    @rule(which=st.integers(0, 20))
    def submit(self, which):
        def act(twin):
            secret = assignments.submit_secret(twin.assignments[which % len(twin.assignments)])
            assignments.assignment_submit(secret=secret, fields=[("a", "1")], now=self.now)

        self.both(act)

    @precondition(has_work)
    @rule(which=st.integers(0, 20))
    def give_back(self, which):
        def act(twin):
            mine = twin.assignments[which % len(twin.assignments)]
            assignments.assignment_return(assignment_pk=mine.pk, worker=mine.worker, now=self.now)

        self.both(act)

    @precondition(has_work)
    @rule(which=st.integers(0, 20), override=st.booleans())
    def approve(self, which, override):
        self.ask(
            lambda twin: assignments.assignment_approve(
                requester=twin.requester,
                assignment_id=twin.assignments[which % len(twin.assignments)].assignment_id,
                feedback="",
                override=override,
                now=self.now,
            )
        )

    @precondition(has_work)
    @rule(which=st.integers(0, 20))
    def reject(self, which):
        self.ask(
            lambda twin: assignments.assignment_reject(
                requester=twin.requester,
                assignment_id=twin.assignments[which % len(twin.assignments)].assignment_id,
                feedback="no",
                now=self.now,
            )
        )

    @precondition(has_work)
    @rule(which=st.integers(0, 20), amount=st.sampled_from(["0.01", "0.33", "30.00"]))
    def bonus(self, which, amount):
        def act(twin):
            mine = twin.assignments[which % len(twin.assignments)]
            bonus_send(
                requester=twin.requester,
                worker_id=mine.worker.worker_id,
                assignment_id=mine.assignment_id,
                amount=Decimal(amount),
                reason="r",
                token=None,
                request_id="r",
                now=self.now,
            )

        self.ask(act)

    @precondition(has_hits)
    @rule(which=st.integers(0, 3), more=st.sampled_from([1, 2, 8]))
    def extend(self, which, more):
        self.ask(
            lambda twin: hits.hit_extend(
                requester=twin.requester,
                hit_id=twin.hits[which % len(twin.hits)].hit_id,
                more=more,
                token=None,
                request_id="r",
                now=self.now,
            )
        )

    @precondition(has_hits)
    @rule(which=st.integers(0, 3), seconds=st.sampled_from([-10, 0, 3600, 864_000]))
    def move_expiry(self, which, seconds):
        self.ask(
            lambda twin: hits.hit_expire_at(
                requester=twin.requester,
                hit_id=twin.hits[which % len(twin.hits)].hit_id,
                expires_at=self.now + timedelta(seconds=seconds),
                now=self.now,
            )
        )

    @precondition(has_hits)
    @rule(which=st.integers(0, 3), revert=st.booleans())
    def review(self, which, revert):
        self.ask(
            lambda twin: hits.hit_review(
                requester=twin.requester, hit_id=twin.hits[which % len(twin.hits)].hit_id, revert=revert, now=self.now
            )
        )

    @precondition(has_hits)
    @rule(which=st.integers(0, 3))
    def delete(self, which):
        self.ask(
            lambda twin: hits.hit_delete(
                requester=twin.requester, hit_id=twin.hits[which % len(twin.hits)].hit_id, now=self.now
            )
        )

    @precondition(has_hits)
    @rule(which=st.integers(0, 3), reward=st.sampled_from(["0.01", "0.07", "0.50"]))
    def change_type(self, which, reward):
        def act(twin):
            values = hits.TypeValues("other", "d", None, Decimal(reward), 600, 60, [])
            kind = hits.hit_type_get_or_create(requester=twin.requester, values=values, now=self.now)
            hit_id = twin.hits[which % len(twin.hits)].hit_id
            hits.hit_change_type(requester=twin.requester, hit_id=hit_id, hit_type=kind, now=self.now)

        self.ask(act)

    @rule(fees=st.sampled_from(["published", "none"]))
    def change_fees(self, fees):
        def act(twin):
            twin.requester.fee_rules = fees
            twin.requester.save(update_fields=["fee_rules"])

        self.both(act)

    @rule(seconds=st.sampled_from([1, 59, 601, 86_401, 2_592_001, 11_000_000]))
    def time_passes(self, seconds):
        self.now += timedelta(seconds=seconds)
        due_carry_out(now=self.now, requester=self.swept.requester)

    @invariant()
    def money_adds_up(self):
        if not hasattr(self, "swept"):
            return
        for twin in (self.swept, self.lazy):
            twin.requester.refresh_from_db()
            pots = {pot: getattr(twin.requester, pot) for pot in POTS}
            assert pots["deposited"] == pots["available"] + pots["held"] + pots["paid"] + pots["fees"]
            sums = LedgerEntry.objects.filter(requester=twin.requester).aggregate(**{pot: Sum(pot) for pot in POTS})
            assert sums == pots
            held = Hit.objects.filter(requester=twin.requester).aggregate(sum=Sum("held"))["sum"] or 0
            assert held == pots["held"]

    @invariant()
    def counters_hold(self):
        if not hasattr(self, "swept"):
            return
        state = Assignment.State
        rows = Hit.objects.filter(requester__in=[self.swept.requester, self.lazy.requester]).annotate(
            accepted=Count("assignments", filter=Q(assignments__state=state.ACCEPTED)),
            sent=Count("assignments", filter=Q(assignments__state=state.SUBMITTED)),
            decided=Count("assignments", filter=Q(assignments__state__in=[state.APPROVED, state.REJECTED])),
            live=Count("assignments", filter=Q(assignments__state__in=LIVE)),
            people=Count("assignments__worker", filter=Q(assignments__state__in=LIVE), distinct=True),
        )
        for hit in rows:
            assert (hit.pending, hit.undecided, hit.completed) == (hit.accepted, hit.sent, hit.decided)
            assert hit.available + hit.pending + hit.undecided + hit.completed == hit.max_assignments
            assert 0 <= hit.live <= hit.max_assignments
            assert hit.live == hit.people
            open_places = 0 if hit.is_expired else hit.available
            assert hit.held == hit.cost_each * (hit.pending + hit.undecided + open_places)

    def teardown(self):
        if not hasattr(self, "swept"):
            return
        for twin in (self.swept, self.lazy):
            due_carry_out(now=self.now, requester=twin.requester)
        assert self.swept.snapshot() == self.lazy.snapshot()


@pytest.mark.django_db
@pytest.mark.parametrize("examples", [15, pytest.param(100, marks=pytest.mark.slow)])
def test_counters_and_money_hold_in_any_order_and_lazy_evaluation_agrees_with_the_sweep(examples):
    run_state_machine_as_test(Lives, settings=hypothesis_settings(max_examples=examples, stateful_step_count=30))
