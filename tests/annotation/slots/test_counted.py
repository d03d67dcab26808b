"""What counts again, and what does not: guards of `annotation.slots.services.counting` that few ways lead to."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotation.models import (
    Annotation,
    AnnotationState,
    CountedChange,
    Item,
    Participation,
    Slot,
    SlotState,
    Split,
    Standing,
    StandingChange,
)
from annotation.people.services.standing import standing_move
from annotation.slots.services.counting import (
    annotation_count_again,
    annotations_exclude,
    submissions_confirm,
    submissions_give_up,
)
from annotation.slots.services.exclusions import annotation_exclude, annotation_restore
from annotation.work.services.submissions import answer_take
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def voted():
    """Return the only annotation of a campaign."""
    campaign = factories.antique(items=1, n=1)
    return factories.vote(campaign, factories.annotator(campaign), 3)


def count_again(annotation):
    with transaction.atomic():
        return annotation_count_again(annotation=annotation, because="", actor_id=None, now=timezone.now())


def test_an_annotation_whose_slot_is_gone_does_not_count_again(voted):
    with transaction.atomic():
        annotations_exclude(annotations=[voted], because="spam", actor_id=None, now=timezone.now())
    Annotation.objects.filter(pk=voted.pk).update(slot=None)
    assert count_again(voted) is False
    assert Annotation.objects.get().state == AnnotationState.EXCLUDED
    Annotation.objects.filter(pk=voted.pk).update(slot=Slot.objects.get())
    assert count_again(voted) is True
    assert Slot.objects.get().state == SlotState.FILLED


def test_a_visit_that_is_confirmed_counts_in_a_sealed_split_too(voted):
    """Its votes were given before the seal; only the proof of who gave them comes later."""
    Annotation.objects.filter(pk=voted.pk).update(state=AnnotationState.PROVISIONAL)
    Split.objects.update(sealed_at=timezone.now())
    with transaction.atomic():
        assert submissions_confirm(annotations=[voted], now=timezone.now()) == 1
    assert Annotation.objects.get().state == AnnotationState.COUNTED
    with transaction.atomic():  # but nobody takes it out again
        assert annotations_exclude(annotations=[voted], because="", actor_id=None, now=timezone.now()) == 0
    assert CountedChange.objects.latest("pk").after == AnnotationState.COUNTED


def test_what_was_given_up_leaves_the_slot_to_whom_it_went_whatever_becomes_of_it(voted):
    campaign, slot = voted.campaign, Slot.objects.get()
    Annotation.objects.filter(pk=voted.pk).update(state=AnnotationState.GIVEN_UP)
    Slot.objects.filter(pk=slot.pk).update(state=SlotState.OPEN)
    other = factories.vote(campaign, factories.annotator(campaign), 2)
    assert other.slot_id == slot.pk
    Participation.objects.filter(surrogate=voted.surrogate_id).update(standing=Standing.SUSPENDED)
    with transaction.atomic():
        assert submissions_confirm(annotations=[voted], now=timezone.now()) == 0
    assert Annotation.objects.get(pk=voted.pk).state == AnnotationState.EXCLUDED
    assert Slot.objects.get().state == SlotState.FILLED


@pytest.fixture
def campaign():
    return factories.antique(items=1, n=1)


def test_a_submission_that_was_given_up_and_confirmed_after_all_is_back_in_the_tally(campaign, now):
    person = factories.annotator(campaign)
    made = _provisional(campaign, person, now)
    place = Participation.objects.get(surrogate=person.surrogate_id)
    with transaction.atomic():
        submissions_give_up(annotations=[made], because="test", now=now)
    place.refresh_from_db()
    assert (place.submitted, Slot.objects.get().state) == (0, "open")
    with transaction.atomic():
        assert submissions_confirm(annotations=[made], now=now) == 1
    place.refresh_from_db()
    made.refresh_from_db()
    assert (place.submitted, made.state, Slot.objects.get().state) == (1, "counted", "filled")
    assert [(row.before, row.after) for row in made.changes.order_by("pk")] == [
        ("provisional", "given_up"),
        ("given_up", "counted"),
    ]


def _provisional(campaign, person, now):
    assignment = factories.claim(campaign, person)
    return answer_take(
        assignment_id=assignment.pk,
        surrogate_id=person.surrogate_id,
        stage="relevance",
        sent={"label": "4"},
        version=0,
        now=now,
        via="mturk",
        is_provisional=True,
        another=False,
    ).annotation


def test_work_that_is_confirmed_after_its_slot_was_filled_is_surplus_and_stays_in_the_tally(campaign, now):
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    made = _provisional(campaign, first, now)
    with transaction.atomic():
        submissions_give_up(annotations=[made], because="test", now=now)
    factories.vote(campaign, second, 3)
    with transaction.atomic():
        assert submissions_confirm(annotations=[made], now=now) == 0
    made.refresh_from_db()
    assert (made.state, made.slot) == ("surplus", None)
    assert Participation.objects.get(surrogate=first.surrogate_id).submitted == 1


def test_what_was_excluded_counts_again_only_while_its_slot_is_free(campaign, now):
    first, second = factories.annotator(campaign), factories.annotator(campaign)
    made = factories.vote(campaign, first, 4)
    annotation_exclude(annotation=made, because="test", actor_id=None, now=now)
    assert annotation_restore(annotation=made, actor_id=None, now=now)
    assert not annotation_restore(annotation=made, actor_id=None, now=now)
    annotation_exclude(annotation=made, because="test", actor_id=None, now=now)
    other = factories.vote(campaign, second, 2)
    assert not annotation_restore(annotation=made, actor_id=None, now=now)
    made.refresh_from_db()
    assert (made.state, other.state) == ("excluded", "counted")


def test_the_work_of_someone_suspended_is_excluded_when_it_is_confirmed(campaign, now):
    person = factories.annotator(campaign)
    made = _provisional(campaign, person, now)
    with transaction.atomic():
        standing_move(
            campaign=campaign, surrogate_id=person.surrogate_id, to=Standing.SUSPENDED, actor_id=None, now=now
        )
        submissions_confirm(annotations=[made], now=now)
    made.refresh_from_db()
    assert (made.state, Slot.objects.get().state) == ("excluded", "open")
    assert made.changes.get().because == "suspended"


def test_what_is_submitted_after_a_suspension_does_not_count_and_its_slot_opens(campaign, now):
    person = factories.annotator(campaign)
    assignment = factories.label(factories.claim(campaign, person), 4)
    with transaction.atomic():
        standing_move(
            campaign=campaign, surrogate_id=person.surrogate_id, to=Standing.SUSPENDED, actor_id=None, now=now
        )
    made = factories.submit(assignment)
    assert (made.state, Slot.objects.get().state) == ("excluded", "open")
    assert Participation.objects.get().submitted == 1


def test_what_is_submitted_on_an_item_that_was_retired_at_that_moment_fills_nothing(campaign, now):
    person = factories.annotator(campaign)
    assignment = factories.label(factories.claim(campaign, person), 4)
    Item.objects.update(state="retired")  # as a retirement does that did not see this claim yet
    Slot.objects.update(state="closed")
    made = factories.submit(assignment)
    assert (made.state, made.slot, Slot.objects.get().state) == ("retired", None, "closed")


def test_the_work_of_someone_suspended_is_not_restored(campaign, now):
    person = factories.annotator(campaign)
    made = factories.vote(campaign, person, 4)
    annotation_exclude(annotation=made, because="test", actor_id=None, now=now)
    with transaction.atomic():
        standing_move(
            campaign=campaign, surrogate_id=person.surrogate_id, to=Standing.SUSPENDED, actor_id=None, now=now
        )
    assert not annotation_restore(annotation=made, actor_id=None, now=now)


@pytest.mark.parametrize("model", [CountedChange, StandingChange])
def test_the_database_refuses_to_change_what_was_recorded(campaign, now, model):
    person = factories.annotator(campaign)
    made = factories.vote(campaign, person, 4)
    annotation_exclude(annotation=made, because="test", actor_id=None, now=now)
    with transaction.atomic():
        standing_move(campaign=campaign, surrogate_id=person.surrogate_id, to=Standing.WARNED, actor_id=None, now=now)
    with pytest.raises(Exception, match="never changes"), transaction.atomic():
        model.objects.update(at=now)


def test_the_database_refuses_two_that_fill_one_slot(campaign, now):
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    made = factories.vote(campaign, person, 4)
    with pytest.raises(IntegrityError), transaction.atomic():
        Annotation.objects.create(
            published_id="1",
            campaign=campaign,
            item=made.item,
            slot=made.slot,
            surrogate_id=other.surrogate_id,
            answer={},
            answer_version=1,
            state="provisional",
            submitted_at=now,
            seconds=1,
        )
    assert connection.in_atomic_block
