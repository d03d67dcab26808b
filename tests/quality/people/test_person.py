"""The page of one person, and what managers do about them."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.models import Annotation, AnnotationState, Participation, Standing, StandingChange
from measures.targets import Target
from quality.dashboard.services import quality_numbers_refresh
from quality.models import Review
from quality.people.selectors.person import person_of
from quality.policies.policy import Process, SecondRound, policy_from
from quality.policies.selectors import policy_current
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    """Return a campaign of four pairs that three people judged; one of them differs twice."""
    made = factories.antique(items=4, n=3)
    for labels in ((4, 4, 1, 1), (4, 4, 1, 1), (4, 4, 4, 4)):
        person = factories.annotator(made)
        by_item = dict(zip(made.items.order_by("pk"), labels, strict=True))
        for _ in range(4):
            held = factories.claim(made, person)
            factories.submit(factories.label(held, by_item[held.item]))
    factories.examine(made)
    numbers_refresh(campaign=made, now=timezone.now())
    quality_numbers_refresh(campaign=made, now=timezone.now())
    return made


def differing(campaign):
    return Annotation.objects.filter(campaign=campaign).order_by("-pk").first().surrogate_id


def test_what_a_person_answers_stands_beside_what_everybody_does(campaign):
    found = person_of(campaign=campaign, surrogate_id=differing(campaign))
    [peers] = found["peers"]
    assert (peers.share, peers.pairs) == (0.5, 8)  # alike in two of four items, with two others each
    assert peers.everybody == pytest.approx((1 + 1 + 1 / 3 + 1 / 3) / 4)
    assert found["shares"] == [("label_1", 0.0, 4 / 12), ("label_4", 1.0, 8 / 12)]
    assert (found["checks"], found["misses"], found["counted"]) == (0, [], 4)


def standing(campaign, surrogate_id):
    return Participation.objects.get(campaign=campaign, surrogate_id=surrogate_id).standing


def test_each_act_can_be_taken_back_and_has_its_reason(campaign, client):
    boss, surrogate_id = factories.user(is_admin=True), differing(campaign)
    client.force_login(boss)
    url = reverse("quality-person", args=[campaign.slug, surrogate_id])

    def act(name, reason="Because.", **more):
        body = client.post(url, {"act": name, "reason": reason, **more}, follow=True).content.decode()
        factories.run_jobs()
        return body

    assert "Give a reason" in act("warn", reason=" ")
    assert standing(campaign, surrogate_id) == Standing.ACTIVE
    for name, becomes in (
        ("warn", Standing.WARNED),
        ("reinstate", Standing.ACTIVE),
        ("pause", Standing.PAUSED),
        ("reinstate", Standing.ACTIVE),
        ("suspend", Standing.SUSPENDED),
    ):
        act(name, reason=f"Why {name}.")
        assert standing(campaign, surrogate_id) == becomes, name
    own = Annotation.objects.filter(surrogate_id=surrogate_id)
    assert set(own.values_list("state", flat=True)) == {AnnotationState.EXCLUDED}
    assert "Why suspend." in client.get(url).content.decode()
    assert "status has changed" in act("warn")
    act("reinstate", reason="It was my mistake.")
    assert set(own.values_list("state", flat=True)) == {AnnotationState.COUNTED}
    assert standing(campaign, surrogate_id) == Standing.ACTIVE
    assert not Review.objects.filter(state="open").exists()
    changes = StandingChange.objects.filter(surrogate_id=surrogate_id)
    assert set(changes.values_list("changed_by", flat=True)) == {boss.surrogate_id}


def test_the_list_shows_the_standing_that_was_just_decided(campaign, client):
    client.force_login(factories.user(is_admin=True))
    surrogate_id = differing(campaign)
    url = reverse("quality-people", args=[campaign.slug])
    quality_numbers_refresh(campaign=campaign, now=timezone.now() - timedelta(minutes=1))
    client.post(reverse("quality-person", args=[campaign.slug, surrogate_id]), {"act": "pause", "reason": "Look."})
    body = client.get(url).content.decode()
    assert '<span class="tag warn">Paused</span>' in body
    assert "Newer numbers are being calculated" in body
    factories.run_jobs()
    assert "Newer numbers are being calculated" not in client.get(url).content.decode()


def test_work_from_a_day_on_is_excluded_and_counted_again(campaign, client):
    client.force_login(factories.user(is_admin=True))
    surrogate_id = differing(campaign)
    url = reverse("quality-person", args=[campaign.slug, surrogate_id])
    own = Annotation.objects.filter(surrogate_id=surrogate_id)
    old = own.order_by("pk").first()
    Annotation.objects.filter(pk=old.pk).update(submitted_at=timezone.now() - timedelta(days=9))
    by_hand = own.order_by("-pk").first()
    client.post(reverse("annotation-exclude", args=[campaign.slug, by_hand.pk]))
    assert (
        "Enter the start date" in client.post(url, {"act": "exclude", "reason": "Drift."}, follow=True).content.decode()
    )
    later = {"act": "exclude", "reason": "Drift.", "since": "2999-01-01"}
    assert "in the future" in client.post(url, later, follow=True).content.decode()
    since = (timezone.now() - timedelta(days=2)).date().isoformat()
    client.post(url, {"act": "exclude", "reason": "Drift.", "since": since})
    factories.run_jobs()
    assert own.filter(state=AnnotationState.COUNTED).get() == old
    excluded = own.filter(state=AnnotationState.EXCLUDED).count()
    assert f"{excluded} answers excluded" in client.get(url).content.decode()
    client.post(url, {"act": "count_again", "reason": "No drift.", "since": since})
    factories.run_jobs()
    assert own.filter(state=AnnotationState.EXCLUDED).get() == by_hand  # what was excluded by itself stays so
    counted_again = f"{excluded - 1} answer{'s' * (excluded > 2)} counted again"
    assert counted_again in " ".join(client.get(url).content.decode().split())
    assert client.post(url, {"act": "exclude", "reason": "x", "since": "2026-13-45"}, follow=True).status_code == 200


def test_a_policy_is_published_as_a_new_version_and_says_what_it_comes_to(campaign, client):
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-policy", args=[campaign.slug])
    body = client.get(url, {"people": "577", "items_each": "257"}).content.decode()
    assert "<dd>174</dd>" in body
    assert "84%" in body  # of people with a true rate of 80% are paused after 1,000 checks
    form = {
        "gold_first": "10",
        "gold_first_items": "30",
        "gold_rate": "0.05",
        "gold_most_exposures": "40",
        "inspection_rate": "0.1",
        "experts": "2",
        "decide_hours": "24",
        "drift_run_length": "2000",
        "process": "paper",
        "second_round": "pooled",
        "error": "0.04",
        "budget": "12.50",
        "most": "7",
        "expert": "0",
    }
    assert "at most the length of the initial phase" in client.post(url, {**form, "gold_first": "31"}).content.decode()
    assert "at least 0.001" in client.post(url, {**form, "gold_rate": "1e-9"}).content.decode()
    assert "constant false alarms" in client.post(url, {**form, "drift_run_length": "5"}).content.decode()
    client.post(url, form)
    client.post(url, form)  # the same again is no new version
    row, policy = policy_current(campaign)
    assert (row.version, policy.gold_first, policy.experts) == (2, 10, 2)
    assert (policy.process, policy.second_round) == (Process.PAPER, SecondRound.POOLED)
    assert policy.target == Target(error=0.04, budget_cents=1_250, most=7)
    assert "maximum can&#x27;t be 2" in client.post(url, {**form, "process": "target", "most": "2"}).content.decode()
    client.post(url, {**form, "process": "target"})
    assert policy_current(campaign)[1].process is Process.TARGET
    assert policy_from({"gold_rate": 1e-9}).gold_rate == 0.001  # as an earlier version could publish
    assert "<dd>303</dd>" in client.get(url, {"people": "577", "items_each": "257"}).content.decode()


def test_nobody_without_a_place_has_a_page(campaign, client):
    client.force_login(factories.user(is_admin=True))
    other = factories.user().surrogate_id
    assert client.get(reverse("quality-person", args=[campaign.slug, other])).status_code == 404
