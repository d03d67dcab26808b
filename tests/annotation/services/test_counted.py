"""What counts again, and what does not: guards of `annotation.services.counting` that few ways lead to."""

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import (
    Annotation,
    AnnotationState,
    CountedChange,
    Participation,
    Slot,
    SlotState,
    Split,
    Standing,
)
from annotation.services.counting import annotation_count_again, annotations_exclude, submissions_confirm
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
