"""By policy, a manager is asked before anyone is paused: checks rise instead, and the release says what came of it."""

from dataclasses import replace

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation.models import Injection, Participation, Standing
from exports.fair_work import fair_work_text
from exports.selectors.work import fair_work
from quality.models import Review
from quality.people.services.pauses import person_pause
from quality.people.services.reviews import review_decide
from quality.policies.policy import Policy
from tests import factories
from tests.quality.people.gold_checks import checked
from workforces.models import PayHold

pytestmark = pytest.mark.django_db
POLICY = Policy(gold_first=0, gold_first_items=0, gold_rate=0.1, drift_run_length=0, ask_first=True)


def standing(campaign, person):
    return Participation.objects.get(campaign=campaign, surrogate=person.surrogate).standing


@pytest.fixture
def asked():
    """Return a campaign whose manager is asked about a person, and that person."""
    campaign = factories.antique(items=80, n=1, gold=12, policy=POLICY)
    person = factories.annotator(campaign)
    checked(campaign, person, [False] * 8, POLICY)
    return campaign, person


def test_who_misses_gold_goes_on_with_their_pay_while_a_manager_is_asked(asked):
    campaign, person = asked
    assert standing(campaign, person) in (Standing.ACTIVE, Standing.WARNED)
    assert not PayHold.objects.exists()
    [review] = Review.objects.all()
    assert review.evidence["asked"] is True
    assert review.evidence["score"] >= review.evidence["limit"]
    page = Client()
    page.force_login(factories.user(is_admin=True))
    text = page.get(f"/campaigns/{campaign.slug}/review/").content.decode()
    assert "The annotator can keep working, and no pay is held." in text
    assert "They get more gold checks until you decide." in text
    assert factories.vote(campaign, person, 4)


def test_the_same_misses_pause_without_the_policy():
    campaign = factories.antique(items=80, n=1, gold=12, policy=replace(POLICY, ask_first=False))
    person = factories.annotator(campaign)
    checked(campaign, person, [False] * 3, replace(POLICY, ask_first=False))
    assert standing(campaign, person) == Standing.PAUSED
    assert fair_work(campaign)["reviews"]["paused"] == {"open": 1, "reinstated": 0, "suspended": 0}


def test_more_gold_comes_until_the_manager_has_decided(asked):
    campaign, person = asked
    other = factories.annotator(campaign)
    begin = Injection.objects.filter(surrogate=person.surrogate).count()
    for _ in range(20):
        factories.vote(campaign, person, 4)
        factories.vote(campaign, other, 4)
    more = Injection.objects.filter(surrogate=person.surrogate).count() - begin
    usual = Injection.objects.filter(surrogate=other.surrogate).count()
    assert more >= 2 * usual - 1 > 1


@pytest.mark.parametrize(("suspend", "after"), [(True, Standing.SUSPENDED), (False, Standing.ACTIVE)])
def test_the_statement_says_how_often_managers_followed(asked, suspend, after):
    campaign, person = asked
    boss = factories.user(is_admin=True)
    review_decide(
        review=Review.objects.get(),
        suspend=suspend,
        refuse_pay=False,
        reason="As the checks show.",
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )
    assert standing(campaign, person) == after
    found = fair_work(campaign)["reviews"]["asked"]
    assert found == {"open": 0, "reinstated": int(not suspend), "suspended": int(suspend)}
    manifest = {"work": fair_work(campaign), "campaign": "c", "release": 1, "frozen_at": "now", "synthetic": False}
    text = fair_work_text(manifest)
    assert "asked a manager first, and paused nobody: 1 times" in text
    assert f"suspended the annotator {int(suspend)} times" in text


def test_a_manager_can_still_pause(asked):
    campaign, person = asked
    boss = factories.user(is_admin=True)
    with transaction.atomic():
        person_pause(
            campaign=campaign,
            policy=POLICY,
            surrogate_id=person.surrogate_id,
            now=timezone.now(),
            evidence={"manager": "Seen by hand."},
            actor_id=boss.surrogate_id,
        )
    assert standing(campaign, person) == Standing.PAUSED
