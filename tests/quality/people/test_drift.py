"""Late drift: who did well for long and no longer does comes before a manager, and nothing else happens."""

from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Participation, Standing
from annotation.people.services.withdrawal import withdrawal_ask, withdrawals_apply
from measures.drift import limit_for, run_length, score
from measures.gold_tests import GoldTest
from quality.models import Review
from quality.people.services.reviews import review_decide
from quality.people.services.rules import firings_forget
from quality.policies.policy import Policy
from tests import factories
from tests.quality.people.gold_checks import checked

TEST = GoldTest()


@pytest.mark.parametrize(("hit_rate", "runs"), [(0.9, 300), (0.6, 3000), (0.25, 3000)])
def test_the_run_lengths_are_those_of_a_simulation(hit_rate, runs):
    limit, chance, lengths = limit_for(TEST, 300), np.random.default_rng(5), []
    for _ in range(runs):
        found, checks = 0.0, 0
        while found < limit:
            checks += 1
            found = max(0.0, found + (TEST.hit if chance.random() < hit_rate else TEST.miss))
        lengths.append(checks)
    error = 4 * np.std(lengths) / np.sqrt(runs)
    assert abs(np.mean(lengths) - run_length(TEST, limit, hit_rate)) < error


def test_good_work_before_does_not_hide_what_comes_after():
    worse = [False, False, True, False, False]
    assert score([True] * 500 + worse, TEST) == score(worse, TEST)
    assert TEST.assess([True] * 500 + worse).finding.value != "failed"
    assert score(worse, TEST) >= limit_for(TEST, 1_000)


def test_the_limit_grows_with_the_run_length():
    limits = [limit_for(TEST, length) for length in (100, 1_000, 10_000)]
    assert limits == sorted(limits)
    assert run_length(TEST, limits[1], TEST.good) >= 950


POLICY = Policy(drift_run_length=100, gold_first=0, gold_rate=0)


@pytest.fixture
def drifting(db):
    """Return a campaign, and a person of it whose drift waits for a manager while they work on."""
    campaign = factories.antique(items=60, n=1, gold=1, policy=POLICY)
    person = factories.annotator(campaign)
    checked(campaign, person, [True] * 20 + [False, True, False, False], POLICY)
    return campaign, person


def managed(campaign, person, act):
    """Return what a manager's page of decisions says after an act on the person's page."""
    client = Client()
    client.force_login(factories.user(is_admin=True))
    page = reverse("quality-person", args=[campaign.slug, person.surrogate_id])
    assert client.post(page, {"act": act, "reason": "MY-REASON"}).status_code == 302
    return client.get(reverse("quality-decisions", args=[campaign.slug])).content.decode()


def test_a_pause_during_drift_is_shown_as_one(drifting):
    campaign, person = drifting
    client = Client()
    client.force_login(factories.user(is_admin=True))
    assert "can keep working" in client.get(reverse("quality-decisions", args=[campaign.slug])).content.decode()
    page = managed(campaign, person, "pause")
    assert "Accuracy dropped in recent checks" in page
    assert "MY-REASON" in page
    assert "can keep working" not in page


@pytest.mark.parametrize(("act", "standing"), [("reinstate", Standing.ACTIVE), ("suspend", Standing.SUSPENDED)])
def test_who_was_paused_during_drift_and_left_can_still_be_decided_about(drifting, act, standing):
    campaign, person = drifting
    managed(campaign, person, "pause")
    withdrawal_ask(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    withdrawals_apply(timezone.now() + timedelta(days=8))
    assert Review.objects.get().state == "open"
    managed(campaign, person, act)
    assert campaign.participations.get(surrogate_id=person.surrogate_id).standing == standing


def test_who_is_paused_without_a_review_can_be_decided_about(drifting):
    """Left so by an earlier version."""
    campaign, person = drifting
    managed(campaign, person, "pause")
    Review.objects.all().delete()
    managed(campaign, person, "reinstate")
    assert campaign.participations.get(surrogate_id=person.surrogate_id).standing == Standing.ACTIVE


@pytest.mark.django_db
def test_who_drifts_comes_before_a_manager_once_and_works_on():
    campaign = factories.antique(items=60, n=1, gold=1, policy=POLICY)
    person, boss = factories.annotator(campaign), factories.user()

    def check(hits):
        checked(campaign, person, hits, POLICY)

    check([True] * 20)
    assert not Review.objects.exists()
    check([False, True, False, False])
    review = Review.objects.get()
    assert review.evidence["drift"] >= limit_for(POLICY.gold_test, 100)
    place = Participation.objects.get(surrogate_id=person.surrogate_id)
    assert place.standing in (Standing.ACTIVE, Standing.WARNED)
    check([True])
    assert Review.objects.count() == 1
    review_decide(
        review=review,
        suspend=False,
        reason="A bad day.",
        refuse_pay=False,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    Review.objects.create(
        campaign=campaign,
        surrogate_id=person.surrogate_id,
        opened_at=timezone.now(),
        decide_by=timezone.now(),
        evidence={"drift": 3.0},
    )
    firings_forget(campaign=campaign, before=person.surrogate_id)  # they leave: nobody is to decide about them
    check([True, False])  # what was looked at is looked at
    assert Review.objects.filter(state="open").count() == 0


@pytest.mark.django_db
def test_two_misses_warn_and_right_answers_end_the_warning():
    campaign = factories.antique(items=2, n=1, gold=20, policy=Policy(gold_rate=0, gold_first=12, gold_first_items=12))
    person = factories.annotator(campaign)
    place = Participation.objects.filter(campaign=campaign, surrogate_id=person.surrogate_id)
    seen = []
    for label in (1, 1, 4, 4, 4, 4, 4, 4):
        factories.vote(campaign, person, label)
        factories.examine(campaign)
        seen.append(place.get().standing)
    assert seen[:2] == [Standing.ACTIVE, Standing.WARNED]
    assert seen[-1] == Standing.ACTIVE
    assert not Review.objects.exists()
