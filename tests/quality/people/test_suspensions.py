"""Suspensions and appeals: what is taken out of what counts comes back, and an error budget that is spent does not."""

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Annotation, AnnotationState, Injection, Slot, Standing
from annotation.slots.services.exclusions import annotation_exclude
from quality.dashboard.selectors.review_queue import waiting_of
from quality.models import GoldCheck, GoldKey, Review
from quality.people.services.pauses import person_assess
from quality.people.services.reviews import ReviewError, review_decide
from quality.people.services.suspensions import suspension_appeal, suspension_appeal_decide, suspension_lift
from tests import factories
from tests.quality.worlds import FIRST, careless, nq

pytestmark = pytest.mark.django_db


def test_who_misses_keys_is_paused_and_suspended_and_whose_appeal_is_granted_counts_again():
    campaign = nq(keys=5, n=1)
    person = careless(campaign)
    assert list(GoldCheck.objects.values_list("is_hit", "missed_at")) == [(False, "long_answer")] * 3
    place = campaign.participations.get(surrogate_id=person.surrogate_id)
    assert place.standing == Standing.PAUSED
    work = campaign.items.filter(batch__purpose="work").first()
    boss, now = factories.user(), timezone.now()
    # Something of theirs counts, and goes out of what counts with the suspension.
    review = review_decide(
        review=Review.objects.get(), suspend=False, reason="", refuse_pay=False, actor_id=boss.surrogate_id, now=now
    )
    annotation = factories.annotate(campaign, person, label="bad")
    assert annotation.item.batch_id == work.batch_id
    second = Review.objects.create(
        campaign=campaign, surrogate_id=person.surrogate_id, opened_at=now, decide_by=now, evidence={}
    )
    review_decide(
        review=second, suspend=True, reason="Too many.", refuse_pay=False, actor_id=boss.surrogate_id, now=now
    )
    factories.run_jobs()
    annotation.refresh_from_db()
    assert (review.state, annotation.state) == ("reinstated", AnnotationState.EXCLUDED)
    with pytest.raises(ReviewError, match="Briefly explain"):
        suspension_appeal(campaign=campaign, surrogate_id=person.surrogate_id, text=" ", now=now)
    appealed = suspension_appeal(
        campaign=campaign, surrogate_id=person.surrogate_id, text="The boxes overlap.", now=timezone.now()
    )
    again = suspension_appeal(campaign=campaign, surrogate_id=person.surrogate_id, text="More", now=timezone.now())
    assert (appealed.pk, again.appeal) == (second.pk, "The boxes overlap.")
    suspension_appeal_decide(review=again, lift=True, answer="You are right.", actor_id=boss.surrogate_id, now=now)
    factories.run_jobs()
    annotation.refresh_from_db()
    place.refresh_from_db()
    assert (place.standing, annotation.state) == (Standing.ACTIVE, AnnotationState.COUNTED)
    with pytest.raises(ReviewError, match="already"):
        suspension_appeal_decide(review=again, lift=False, answer="No.", actor_id=boss.surrogate_id, now=now)


def test_an_upheld_suspension_is_answered_and_nobody_else_can_appeal(client):
    campaign = nq(keys=5)
    person, boss = careless(campaign), factories.user()
    review = review_decide(
        review=Review.objects.get(),
        suspend=True,
        reason="Three of three.",
        refuse_pay=False,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    client.force_login(person)
    url = reverse("quality-standing", args=[campaign.slug])
    assert "Three of three." in client.get(url).content.decode()
    assert url in client.post(reverse("work", args=[campaign.slug]), follow=True).content.decode()
    client.post(url, {"text": "I was tired."})
    factories.join(campaign, boss, Role.MANAGER)
    manager = Client()
    manager.force_login(boss)
    assert "I was tired." in manager.get(reverse("quality-decisions", args=[campaign.slug])).content.decode()
    decide = reverse("quality-decide", args=[campaign.slug, "suspension", review.pk])
    assert "Give a reason" in manager.post(decide, {"choice": "uphold"}, follow=True).content.decode()
    manager.post(decide, {"choice": "uphold", "reason": "Rest first, then read."})
    assert "Rest first, then read." in client.get(url).content.decode()
    other = factories.annotator(campaign)
    with pytest.raises(ReviewError, match="aren't suspended"):
        suspension_appeal(campaign=campaign, surrogate_id=other.surrogate_id, text="Me too.", now=timezone.now())


def test_who_comes_back_does_not_begin_with_a_new_error_budget():
    test = FIRST.gold_test
    misses = [False] * 3
    assert test.assess(misses).finding.value == "failed"
    assert test.assess(misses, spent=1).limit > test.assess(misses).limit
    campaign = nq(keys=30, items=1)
    person, boss = careless(campaign), factories.user()
    spans = []
    for _ in range(2):
        review = Review.objects.get(state="open")
        spans.append(review.evidence["limit"])
        review_decide(
            review=review,
            suspend=False,
            reason="Once more.",
            refuse_pay=False,
            actor_id=boss.surrogate_id,
            now=timezone.now(),
        )
        for key in GoldKey.objects.filter(exposures=0)[:4]:
            _check(campaign, person, key)
    assert spans == sorted(set(spans))  # each test is stricter than the one before


def _check(campaign, person, key):
    """Let a person miss a key."""
    slot = Slot.objects.create(campaign=campaign, item=key.item, round=1, index=90, order_key=0, state="aside")
    place = campaign.participations.get(surrogate_id=person.surrogate_id)
    Injection.objects.create(campaign=campaign, surrogate_id=person.surrogate_id, slot=slot, position=place.served)
    GoldKey.objects.filter(pk=key.pk).update(exposures=1)
    if place.standing in (Standing.PAUSED, Standing.SUSPENDED):
        return
    factories.annotate(campaign, person, label="good", box=3)
    factories.examine(campaign)
    with transaction.atomic():
        person_assess(campaign=campaign, policy=FIRST, surrogate_id=person.surrogate_id, now=timezone.now())


def test_what_a_suspension_took_out_comes_back_and_nothing_else_does():
    campaign = nq(n=1, items=4)
    person, boss, now = factories.annotator(campaign), factories.user(), timezone.now()
    for _ in range(3):
        factories.annotate(campaign, person, label="bad")
    own = Annotation.objects.order_by("pk")
    by_hand = own.first()

    def suspend():
        review = Review.objects.create(
            campaign=campaign, surrogate_id=person.surrogate_id, opened_at=now, decide_by=now, evidence={}
        )
        return review_decide(
            review=review, suspend=True, reason="Why.", refuse_pay=False, actor_id=boss.surrogate_id, now=now
        )

    def lift(review):
        suspension_lift(review=review, reason="Not so.", actor_id=boss.surrogate_id, now=timezone.now())

    first = suspend()
    factories.run_jobs()
    lift(first)
    factories.run_jobs()
    annotation_exclude(annotation=by_hand, because="manager", actor_id=boss.surrogate_id, now=now)
    lift(suspend())  # before the job that excludes has run: it finds nothing to do
    factories.run_jobs()
    assert list(own.values_list("state", flat=True)) == ["excluded", "counted", "counted"]


def test_who_is_suspended_and_loses_the_role_reads_why_and_can_appeal(client):
    campaign = factories.antique(items=4, n=1)
    person, manager = factories.annotator(campaign), Client()
    factories.vote(campaign, person, 4)
    manager.force_login(factories.user(is_admin=True))
    page = reverse("quality-person", args=[campaign.slug, person.surrogate_id])
    manager.post(page, {"act": "suspend", "reason": "Copied answers."})
    manager.post(reverse("membership-revoke", args=[campaign.slug, person.memberships.get().pk]))
    client.force_login(person)
    url = reverse("quality-standing", args=[campaign.slug])
    assert "Copied answers." in client.get(url).content.decode()
    client.post(url, {"text": "They are mine."})
    assert Review.objects.get().appeal == "They are mine."


def test_an_appeal_of_who_is_reinstated_on_their_page_waits_for_nobody(client):
    campaign = nq(keys=5)
    person, boss = careless(campaign), factories.user(is_admin=True)
    review = review_decide(
        review=Review.objects.get(),
        suspend=True,
        reason="Why.",
        refuse_pay=False,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    suspension_appeal(campaign=campaign, surrogate_id=person.surrogate_id, text="Not so.", now=timezone.now())
    assert waiting_of(campaign)["suspended"] == 1
    client.force_login(boss)
    page = reverse("quality-person", args=[campaign.slug, person.surrogate_id])
    client.post(page, {"act": "reinstate", "reason": "You are right."})
    review.refresh_from_db()
    assert (review.appeal_answer, review.appeal_decided_at is not None) == ("You are right.", True)
    assert "suspended" not in waiting_of(campaign)
    assert "Not so." not in client.get(reverse("quality-decisions", args=[campaign.slug])).content.decode()


def test_a_time_that_is_past_is_promised_to_nobody(client):
    campaign = nq(keys=5)
    person = careless(campaign)
    client.force_login(person)
    url = reverse("quality-standing", args=[campaign.slug])
    assert "A manager will decide by" in client.get(url).content.decode()
    Review.objects.update(decide_by=timezone.now())
    page = client.get(url).content.decode()
    assert "A manager will decide by" not in page
    assert "deadline for a manager" in page
