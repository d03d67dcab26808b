"""Many at once on real connections: exactly n holders, one effect of doubled requests."""

import threading
from collections import Counter

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Annotation, Assignment, Slot, SlotState
from annotation.slots.services.claims import claim_next, slot_claim_next
from annotation.work.services.submissions import assignment_submit
from jobs.services import job_enqueue, job_take
from tests import factories
from tests.concurrency.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)
CLAIMERS = 40


@pytest.mark.postgresql
def test_control_without_the_checked_update_a_slot_gets_several_holders():
    """Show the race that the guard prevents: look, then write, as a counter would."""
    campaign = factories.campaign(items=1)
    slot = Slot.objects.get()
    met = threading.Barrier(2)

    def naive():
        with transaction.atomic():
            free = Slot.objects.filter(campaign=campaign, state="open").exists()
            met.wait(timeout=30)
            Slot.objects.filter(pk=slot.pk).update(state="held")
            return free

    assert at_once([naive, naive]) == [True, True]


def test_forty_claimers_on_five_slots_make_exactly_five_holders():
    campaign = factories.campaign(n=5, items=1)
    people = [factories.annotator(campaign) for _ in range(CLAIMERS)]
    now = timezone.now()
    claims = at_once(
        [lambda who=who: slot_claim_next(campaign=campaign, surrogate_id=who.surrogate_id, now=now) for who in people]
    )
    holders = [claim.assignment for claim in claims if claim.assignment]
    assert len(holders) == 5
    assert len({assignment.slot_id for assignment in holders}) == 5
    assert Counter(str(claim.reason) for claim in claims if not claim.assignment) == {"all_held": 35}


@pytest.mark.postgresql
def test_a_slot_taken_between_two_looks_is_still_said_to_be_held():
    """Another's claim becomes visible right after this one asked which slots are held."""
    campaign = factories.campaign(n=1, items=1)
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    taken, seen, visible = threading.Event(), threading.Event(), threading.Event()

    def take():
        with transaction.atomic():
            claim = claim_next(campaign=campaign, surrogate_id=first.surrogate_id, now=timezone.now())
            taken.set()
            seen.wait(timeout=30)
        visible.set()
        return claim

    def show_after_asking(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if params and SlotState.HELD in params and not seen.is_set():
            seen.set()
            visible.wait(timeout=30)
        return result

    def look():
        taken.wait(timeout=30)
        with connection.execute_wrapper(show_after_asking):
            return slot_claim_next(campaign=campaign, surrogate_id=second.surrogate_id, now=timezone.now())

    claims = at_once([take, look])
    assert seen.is_set()
    assert [str(claim.reason) for claim in claims if claim.assignment is None] == ["all_held"]


def test_one_person_in_many_tabs_holds_one_slot():
    campaign = factories.campaign(n=2, items=6)
    person = factories.annotator(campaign)
    now = timezone.now()
    claims = at_once([lambda: slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=now)] * 12)
    assert len({claim.assignment.pk for claim in claims}) == 1
    assert Slot.objects.filter(state="held").count() == 1
    assert Assignment.objects.count() == 1


def test_a_submission_sent_many_times_at_once_has_one_effect():
    campaign = factories.campaign(n=1, items=3)
    person = factories.annotator(campaign)
    assignment = factories.answer(factories.claim(campaign, person))
    now = timezone.now()
    done = at_once(
        [lambda: assignment_submit(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, now=now)] * 12
    )
    assert len({submission.annotation.pk for submission in done}) == 1
    assert len({submission.next.assignment.pk for submission in done}) == 1
    assert Annotation.objects.count() == 1
    assert campaign.participations.get().submitted == 1


def test_people_at_work_together_fill_every_slot_once_and_meet_no_item_twice():
    campaign = factories.campaign(n=3, items=8)
    people = [factories.annotator(campaign) for _ in range(6)]

    def work(person):
        for _ in range(40):
            claim = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
            if claim.assignment is None:
                if str(claim.reason) != "all_held":
                    return
                continue
            factories.submit(factories.answer(claim.assignment, label="bad"))

    at_once([lambda who=who: work(who) for who in people])
    counted = Annotation.objects.filter(state="counted")
    assert counted.count() == len({annotation.slot_id for annotation in counted})
    assert len({(a.item_id, a.surrogate_id) for a in counted}) == counted.count()
    remaining = Slot.objects.exclude(state="filled").count()
    assert remaining + counted.count() == 24
    # Six people, three wanted: whatever order they came in, each item finds its three.
    for person in people:
        while True:
            claim = slot_claim_next(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
            if claim.assignment is None:
                break
            factories.submit(factories.answer(claim.assignment, label="bad"))
    assert Slot.objects.filter(state="filled").count() == 24


@pytest.mark.postgresql
def test_steps_beside_one_another_do_not_wait_for_each_other():
    job = job_enqueue(kind="workforces.marketplace", payload={}, now=timezone.now())
    work = job_take(job_id=job.pk, now=timezone.now())
    met = threading.Barrier(4)

    def effect():
        with work.step_beside():
            return met.wait(timeout=30)

    assert sorted(at_once([effect] * 4)) == [0, 1, 2, 3]
