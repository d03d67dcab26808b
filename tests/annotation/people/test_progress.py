"""What annotators are told of how far they are."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, Campaign, Injection
from annotation.people.selectors.progress import progress_of, submitted_of
from annotation.templatetags.durations import about
from annotation.work.services.submissions import assignment_skip
from annotation.work.services.undo import submission_undo
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db


def progress(campaign, person):
    [found] = progress_of([campaign], person.surrogate_id)
    return found


def test_what_is_left_is_never_more_than_the_items_nor_the_quota():
    campaign = factories.antique(items=6, n=3)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 2)
    numbers_refresh(campaign=campaign, now=timezone.now())
    found = progress(campaign, person)
    assert (found.open, found.submitted, found.left) == (17, 1, 5)
    Campaign.objects.update(quota=3)
    campaign.refresh_from_db()
    assert progress(campaign, person).left == 2


def test_gold_among_the_items_ends_no_count_early_and_changes_no_estimate():
    policy = Policy(gold_rate=0, gold_first=3, gold_first_items=5)
    campaign = factories.antique(items=6, n=2, gold=3, policy=policy)
    first, person = factories.annotator(campaign), factories.annotator(campaign)
    for _ in range(9):
        factories.vote(campaign, first, 4)
    numbers_refresh(campaign=campaign, now=timezone.now())
    told = []
    while left := progress(campaign, person).left:
        told.append(len(told) + left)
        factories.vote(campaign, person, 4)
    # 6 items, and half as many more: nothing tells which of them were gold.
    assert told == [9] * 9
    assert Injection.objects.filter(surrogate=person.surrogate_id, slot__state="filled").count() == 3


def test_a_skipped_gold_question_is_no_item_less():
    campaign = factories.antique(items=2, n=2, gold=1, policy=Policy(gold_rate=0, gold_first=1, gold_first_items=1))
    person = factories.annotator(campaign)
    numbers_refresh(campaign=campaign, now=timezone.now())
    held = factories.claim(campaign, person)
    assert Injection.objects.filter(slot=held.slot_id).exists()
    assignment_skip(
        assignment_id=held.pk, surrogate_id=person.surrogate_id, reason="unclear", note="", now=timezone.now()
    )
    factories.vote(campaign, person, 4)
    assert progress(campaign, person).left == 1
    factories.vote(campaign, person, 4)
    assert progress(campaign, person).left == 0


def test_the_time_left_goes_by_the_median_of_all_stages():
    campaign = factories.antique(items=4, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 2)
    Annotation.objects.update(stage_seconds={"relevance": 30.0})
    numbers_refresh(campaign=campaign, now=timezone.now())
    assert progress(campaign, person).seconds_left == 3 * 30
    assert [about(seconds) for seconds in (0, 30, 5340, 9000)] == ["", "about 1 min", "about 89 min", "about 2 h"]


def test_what_was_taken_back_is_in_no_count(client):
    campaign = factories.antique(items=3, n=1)
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.vote(campaign, person, 2)
    Annotation.objects.filter(pk=Annotation.objects.order_by("pk")[0].pk).update(
        submitted_at=timezone.now() - timedelta(days=2)
    )
    submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    assert submitted_of(campaign, person.surrogate_id) == 1
    client.force_login(person)
    url = reverse("work", args=[campaign.slug])
    campaign.assignments.filter(state="live").update(state="released")
    page = client.get(url).content.decode()
    assert "<dt>Today</dt><dd>0</dd>" in page
    assert "<dt>Total</dt><dd>1</dd>" in page
