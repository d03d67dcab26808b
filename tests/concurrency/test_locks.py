"""Managers' work and rules against people at work, on PostgreSQL: nobody waits, nothing deadlocks, nothing is lost."""

import itertools
import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from annotation.items.services.item_checks import checked_rows
from annotation.items.services.items import _write
from annotation.locks import campaign_lock
from annotation.models import Annotation, Assignment, Batch, Campaign, Item, Participation, Slot, Split, Standing
from annotation.people.services.standing import standing_move
from annotation.people.services.withdrawal import participation_withdraw
from annotation.slots.services.claims import slot_claim_next
from annotation.slots.services.exclusions import annotation_exclude
from annotation.slots.services.slots import batch_launch, items_extend
from annotation.slots.services.sweeps import assignments_expire
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.submissions import assignment_skip, assignment_submit
from database.transactions import durable, is_transient
from exports.services import release_freeze
from jobs.models import Job
from jobs.work import Work
from quality.examination.services import _examine_chunk, waiting
from quality.models import Verdict
from quality.policies.services import policy_ensure
from tests import factories
from tests.concurrency.threads import at_once, held_open, impatient

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]


@pytest.fixture
def campaign():
    return factories.antique(items=12, n=3)


def work_of(kind="annotation.launch"):
    now = timezone.now()
    job = Job.objects.create(
        kind=kind, lane="bulk", state="running", attempt=1, due_at=now, created_at=now, lease_until=now
    )
    return Work(job)


def imports(campaign, other):
    rows = enumerate(factories.pairs(30, prefix="7"), start=1)
    [chunk] = checked_rows(campaign, TASK_TYPES["antique"], rows)
    new = [outcome for _, outcome in chunk if outcome is not None]
    _write(campaign, new, pilot=False, people=2, now=timezone.now())


def launches(campaign, other):
    imports(campaign, other)
    batch = Batch.objects.filter(campaign=campaign, state="draft").get()
    batch_launch(work=work_of(), batch=batch, actor_id=None)


def extends(campaign, other):
    split = Split.objects.get(campaign=campaign, name="train")
    items_extend(campaign=campaign, split=split, n=5, sample=12, seed=1, actor_id=None, now=timezone.now())


def freezes(campaign, other):
    release_freeze(
        campaign=campaign,
        family="antique",
        ways=None,
        splits=["train"],
        seed=1,
        shards=1,
        actor_id=None,
        now=timezone.now(),
    )


def examines(campaign, other):
    rows = list(waiting(now=timezone.now()).filter(campaign=campaign, surrogate=other.surrogate_id).order_by("pk"))
    assert rows
    _examine_chunk(campaign, rows, *policy_ensure(campaign=campaign, now=timezone.now()))


def excludes(campaign, other):
    for row in Annotation.objects.filter(campaign=campaign, surrogate=other.surrogate_id).order_by("pk"):
        assert annotation_exclude(annotation=row, because="test", actor_id=None, now=timezone.now())


def withdraws(campaign, other):
    assert participation_withdraw(campaign=campaign, surrogate_id=other.surrogate_id, now=timezone.now())


def expires(campaign, other):
    slot_claim_next(campaign=campaign, surrogate_id=other.surrogate_id, now=timezone.now())
    live = Assignment.objects.filter(campaign=campaign, surrogate=other.surrogate_id, state="live")
    live.update(deadline_at=timezone.now() - timedelta(seconds=1))
    assert assignments_expire(timezone.now()) == 1


def suspends(campaign, other):
    assert standing_move(
        campaign=campaign, surrogate_id=other.surrogate_id, to=Standing.SUSPENDED, actor_id=None, now=timezone.now()
    )


CHANGES = [imports, launches, extends, freezes, examines, excludes, withdraws, expires, suspends]


@pytest.mark.parametrize("change", CHANGES)
def test_people_at_work_do_not_wait_for(change, campaign):
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    factories.vote(campaign, other, 4)
    in_hand = factories.label(factories.claim(campaign, person), 3)
    with held_open(lambda: change(campaign, other)), impatient():
        taken = assignment_submit(assignment_id=in_hand.pk, surrogate_id=person.surrogate_id, now=timezone.now())
        assert taken.annotation.state == "counted"
        assignment_skip(
            assignment_id=taken.next.assignment.pk,
            surrogate_id=person.surrogate_id,
            reason="unclear",
            note="",
            now=timezone.now(),
        )
        newcomer = factories.annotator(campaign)
        assert slot_claim_next(campaign=campaign, surrogate_id=newcomer.surrogate_id, now=timezone.now()).assignment


@pytest.mark.parametrize("model", [Campaign, Item])
def test_control_a_lock_of_the_key_makes_people_wait(model, campaign):
    person = factories.annotator(campaign)
    in_hand = factories.label(factories.claim(campaign, person), 3)
    with held_open(lambda: list(model.objects.select_for_update().order_by("pk"))), impatient(300):
        with pytest.raises(OperationalError, match="lock timeout") as caught:
            assignment_submit(assignment_id=in_hand.pk, surrogate_id=person.surrogate_id, now=timezone.now())
        assert is_transient(caught.value)
    assert assignment_submit(assignment_id=in_hand.pk, surrogate_id=person.surrogate_id, now=timezone.now()).annotation


def test_imports_and_launches_wait_for_each_other(campaign):
    with (
        held_open(lambda: campaign_lock(campaign)),
        impatient(300),
        pytest.raises(OperationalError),
        transaction.atomic(),
    ):
        campaign_lock(campaign)


def opposite(campaign, retrying):
    """Lock two rows in two orders at once, so that one of the two must be run again."""
    rows = list(Item.objects.filter(campaign=campaign).order_by("pk")[:2])
    met, runs = threading.Barrier(2), itertools.count()

    def lock(first, second):
        def both():
            next(runs)
            Item.objects.select_for_update().get(pk=first.pk)
            with suppress(threading.BrokenBarrierError):
                met.wait(timeout=2)
            Item.objects.select_for_update().get(pk=second.pk)
            return True

        return retrying(both)

    done = at_once([lock(*rows), lock(*reversed(rows))])
    return done, next(runs)


def test_a_deadlock_is_run_again_and_both_are_done(campaign):
    done, runs = opposite(campaign, durable)
    assert done == [True, True]
    assert runs >= 3


def test_control_without_running_again_one_of_two_that_deadlock_fails(campaign):
    def once(function):
        def run():
            with transaction.atomic():
                return function()

        return run

    with pytest.raises(AssertionError, match="deadlock detected"):
        opposite(campaign, once)


@pytest.mark.parametrize("change", CHANGES)
def test_many_at_work_while(change, campaign):
    """Everybody works while the change is made again and again; then the rows agree and each item has its votes."""
    people = [factories.annotator(campaign) for _ in range(4)]
    others = [factories.annotator(campaign) for _ in range(3)]
    for other in others:
        factories.vote(campaign, other, 4)

    def work(person):
        for _ in range(30):
            claim = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
            if claim.assignment is None:
                return
            factories.submit(factories.label(claim.assignment, 4))

    def changes():
        for other in others if change is not launches else others[:1]:
            durable(change)(campaign, other)

    at_once([lambda who=who: work(who) for who in people] + [changes])
    for slot in Slot.objects.filter(campaign=campaign):
        filling = Annotation.objects.filter(slot=slot, state__in=["counted", "provisional"]).count()
        holding = Assignment.objects.filter(slot=slot, state="live").count()
        assert (filling, holding) == {"filled": (1, 0), "held": (0, 1)}.get(slot.state, (0, 0))
    for place in Participation.objects.filter(campaign=campaign):
        done = Annotation.objects.filter(campaign=campaign, surrogate=place.surrogate_id)
        assert place.submitted == done.filter(state__in=["counted", "excluded"]).count()


def test_votes_that_come_while_others_are_examined_all_get_their_verdict(campaign):
    people = [factories.annotator(campaign) for _ in range(3)]

    def work(person):
        while (
            claim := slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
        ).assignment:
            factories.submit(factories.label(claim.assignment, 4))

    def examine():
        for _ in range(8):
            factories.examine(campaign)

    at_once([lambda who=who: work(who) for who in people] + [examine])
    factories.examine(campaign)
    assert not Annotation.objects.filter(campaign=campaign, is_examined=False).exists()
    assert Verdict.objects.filter(superseded_at=None).count() == 12
