"""Rules over what people do: a dry run names exactly what a live run does."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotation, Participation, Standing
from annotation.people.services.withdrawal import withdrawal_ask, withdrawals_apply
from annotation.signals import participation_withdrawn
from annotation.slots.services.exclusions import annotation_exclude
from annotation.work.services.submissions import assignment_skip
from annotation.work.services.undo import submission_undo
from jobs.models import Job
from quality.experts.services.inspections import inspection_decide
from quality.gold.services.key_changes import gold_key_retire
from quality.models import GoldCheck, Inspection, InspectionVerdict, Review, ReviewState, RuleFiring, WatchRule
from quality.people.rules import Act, Collector, Condition, Fact, Kind, firings
from quality.people.services.reviews import review_decide
from quality.people.services.rules import named_by, rule_add, rule_end
from quality.policies.policy import Policy
from tests import factories

START = datetime(2026, 1, 1, tzinfo=UTC)


def facts(kind, values, *, start=0, until=None):
    return [
        Fact(START + timedelta(minutes=start + number), kind, start + number, value, until)
        for number, value in enumerate(values)
    ]


def keys(condition, given):
    return [one.key for one in firings(condition, given)]


def test_a_rule_looks_at_the_last_facts_and_fires_once_until_a_person_is_active_again():
    rule = Condition(Collector.GOLD, True, 0.5, window=4, least=4, act=Act.PAUSE)
    missed = facts(Kind.CHECK, [False, True, True, False, True, True, True])
    assert keys(rule, missed) == [4]  # three of the last four
    paused = [Fact(START + timedelta(minutes=4, seconds=1), Kind.STANDING, 0, ("paused", False))]
    assert keys(rule, [*missed, *paused]) == [4]
    by_itself = [Fact(START + timedelta(minutes=10), Kind.STANDING, 1, ("active", False))]
    again = [Fact(START + timedelta(minutes=10), Kind.STANDING, 1, ("active", True))]
    more = facts(Kind.CHECK, [True, True, True, True], start=20)
    assert keys(rule, [*missed, *paused, *again, *more]) == [4, 23]  # four new ones: what was before is forgiven
    assert keys(rule, [*missed, *paused, *by_itself, *more]) == [4]  # nobody decided that


def test_what_was_undone_is_no_fact_any_more_and_each_act_has_its_standing():
    rule = Condition(Collector.GOLD, True, 0.5, window=3, least=3, act=Act.WARN)
    undone = facts(Kind.CHECK, [True], until=START + timedelta(minutes=2, seconds=30))
    assert keys(rule, [*undone, *facts(Kind.CHECK, [True, True], start=1)]) == [2]
    gone = facts(Kind.CHECK, [True], until=START + timedelta(minutes=1, seconds=30))
    assert keys(rule, [*gone, *facts(Kind.CHECK, [True, True], start=1)]) == []
    warned = [Fact(START - timedelta(minutes=1), Kind.STANDING, 0, ("warned", True))]
    assert keys(rule, [*warned, *facts(Kind.CHECK, [True] * 5)]) == []
    pause = Condition(Collector.GOLD, True, 0.5, window=3, least=3, act=Act.PAUSE)
    assert keys(pause, [*warned, *facts(Kind.CHECK, [True] * 5)]) == [2]


def test_each_collector_reads_its_facts():
    answers = facts(Kind.ANSWER, [(2.0, "a"), (9.0, "a"), (3.0, "a"), (2.5, "b")])
    assert keys(Condition(Collector.SPEED, False, 3.0, window=4, least=4, act=Act.NOTIFY), answers) == [3]
    assert keys(Condition(Collector.SPEED, False, 2.7, window=4, least=4, act=Act.NOTIFY), answers) == []
    [same] = firings(Condition(Collector.SAME, True, 0.7, window=4, least=4, act=Act.NOTIFY), answers)
    assert same.value == 0.75
    skips = [*answers, *facts(Kind.SKIP, [None, None], start=10)]
    [skipped] = firings(Condition(Collector.SKIPS, True, 0.3, window=6, least=6, act=Act.NOTIFY), skips)
    assert skipped.value == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="between 1 and the window size"):
        Condition(Collector.SKIPS, True, 0.3, window=2, least=3, act=Act.NOTIFY)


CONDITIONS = [
    Condition(Collector.GOLD, True, 0.4, window=4, least=3, act=Act.PAUSE),
    Condition(Collector.SAME, True, 0.8, window=6, least=5, act=Act.WARN),
    Condition(Collector.SKIPS, True, 0.2, window=8, least=5, act=Act.NOTIFY),
    Condition(Collector.INSPECTION, True, 0.3, window=4, least=2, act=Act.PAUSE),
    Condition(Collector.SPEED, False, 60.0, window=5, least=5, act=Act.NOTIFY),
]


def live(campaign, seed):
    """Let people work for a while under all rules: careless and good ones, with undo, skips, exclusions, reinstatements."""
    import random

    chance, boss = random.Random(seed), factories.user()
    people = [factories.annotator(campaign) for _ in range(4)]
    for number in range(60):
        person = people[number % 4]
        place = Participation.objects.filter(campaign=campaign, surrogate_id=person.surrogate_id).first()
        if place is not None and place.standing == Standing.PAUSED:
            _reinstate(campaign, person, boss)
        held = factories.claim(campaign, person)
        if chance.random() < 0.2:
            reason = chance.choice(["unclear", "offensive"])
            assignment_skip(
                assignment_id=held.pk, surrogate_id=person.surrogate_id, reason=reason, note="", now=timezone.now()
            )
            continue
        made = factories.submit(factories.label(held, 1 if number % 4 < 2 else chance.randint(1, 4)))
        if chance.random() < 0.15:
            submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
        elif chance.random() < 0.1:
            annotation_exclude(annotation=made, because="manager", actor_id=boss.surrogate_id, now=timezone.now())
        if chance.random() < 0.7:
            factories.examine(campaign)
        waiting = Inspection.objects.filter(campaign=campaign, verdict="").order_by("pk").first()
        if waiting is not None and chance.random() < 0.5:
            inspection_decide(
                inspection=waiting,
                verdict=chance.choice(list(InspectionVerdict)),
                exclude=False,
                actor_id=boss.surrogate_id,
                now=timezone.now(),
            )
    for person in people:  # what a manager found last is seen with the next answer
        factories.submit(factories.label(factories.claim(campaign, person), 2)) if _works(campaign, person) else None
    factories.examine(campaign)


def _works(campaign, person):
    place = Participation.objects.get(campaign=campaign, surrogate_id=person.surrogate_id)
    return place.standing in (Standing.ACTIVE, Standing.WARNED)


def _reinstate(campaign, person, boss):
    review = Review.objects.get(campaign=campaign, surrogate_id=person.surrogate_id, state=ReviewState.OPEN)
    review_decide(
        review=review,
        suspend=False,
        reason="Once more.",
        refuse_pay=False,
        actor_id=boss.surrogate_id,
        now=timezone.now(),
    )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_a_dry_run_names_exactly_what_a_live_run_did(seed):
    policy = Policy(gold_first=6, gold_first_items=20, gold_rate=0.3, inspection_rate=1.0)
    campaign = factories.antique(items=120, n=1, gold=30, policy=policy)
    boss = factories.user()
    rules = [
        rule_add(campaign=campaign, condition=one, actor_id=boss.surrogate_id, now=timezone.now()) for one in CONDITIONS
    ]
    live(campaign, seed)
    people = list(Participation.objects.filter(campaign=campaign).values_list("surrogate_id", flat=True))
    fired = 0
    for rule, condition in zip(rules, CONDITIONS, strict=True):
        done = set(rule.firings.values_list("surrogate_id", "kind", "key", "value"))
        named = {(who, str(one.kind), one.key, one.value) for who, one in named_by(condition, campaign, people)}
        assert named == done, condition.collector
        fired += len(done)
    assert fired >= 8


@pytest.mark.django_db
def test_a_rule_is_tried_switched_on_and_off_in_the_browser(client):
    campaign = factories.antique(items=30, n=1, gold=12, policy=Policy(gold_rate=0, gold_first=5, gold_first_items=5))
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-rules", args=[campaign.slug])
    form = {"collector": "gold", "is_above": "True", "limit": "0.4", "window": "5", "least": "2", "act": "pause"}
    assert "no larger than the window size" in client.post(url, {**form, "what": "try", "least": "9"}).content.decode()
    client.post(url, {**form, "what": "try"})
    factories.run_jobs()
    body = client.get(url).content.decode()
    assert "1 act" in body
    assert Participation.objects.get().standing == Standing.WARNED  # by the gold test; a dry run does nothing
    assert not WatchRule.objects.exists()
    client.post(url, {**form, "what": "add"})
    factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert not RuleFiring.objects.exists()  # what was missed before it was switched on is none of its business
    factories.vote(campaign, person, 1)
    factories.examine(campaign)
    rule = WatchRule.objects.get()
    assert (RuleFiring.objects.get().rule_id, RuleFiring.objects.get().value) == (rule.pk, 0.5)
    client.post(url, {"what": "end", "rule": rule.pk})
    rule.refresh_from_db()
    assert rule.ended_at is not None
    rule_end(rule=rule, actor_id=person.surrogate_id, now=timezone.now())  # once more changes nothing
    assert "Disabled" in client.get(url).content.decode()
    assert Annotation.objects.count() == 4


def gold_rule(act=Act.PAUSE):
    return Condition(Collector.GOLD, True, 0.3, window=6, least=2, act=act)


@pytest.mark.django_db
def test_who_was_reinstated_is_not_paused_again_over_what_a_corrected_key_moved():
    policy = Policy(gold_first=12, gold_first_items=12, gold_rate=0)
    campaign = factories.antique(items=30, n=1, gold=20, policy=policy)
    person, boss = factories.annotator(campaign), factories.user()
    rule_add(campaign=campaign, condition=gold_rule(), actor_id=boss.surrogate_id, now=timezone.now())
    for label in (1, 4, 1):
        factories.vote(campaign, person, label)
    factories.examine(campaign)
    assert Review.objects.get().evidence["collector"] == "gold"
    _reinstate(campaign, person, boss)
    first = GoldCheck.objects.order_by("pk").first()
    gold_key_retire(key=first.key, reason="Wrong.", is_wrong=True, actor_id=boss.surrogate_id, now=timezone.now())
    factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert Participation.objects.get(surrogate_id=person.surrogate_id).standing != Standing.PAUSED
    assert Review.objects.filter(state="open").count() == 0


@pytest.mark.django_db
def test_the_gold_test_ends_its_own_warnings_alone_and_each_says_its_reason(client):
    policy = Policy(gold_first=12, gold_first_items=12, gold_rate=0)
    campaign = factories.antique(items=30, n=1, gold=20, policy=policy)
    person, boss = factories.annotator(campaign), factories.user()
    factories.vote(campaign, person, 4)
    client.force_login(factories.user(is_admin=True))
    page = reverse("quality-person", args=[campaign.slug, person.surrogate_id])
    client.post(page, {"act": "warn", "reason": "Please slow down."})
    for _ in range(3):
        factories.vote(campaign, person, 4)
        factories.examine(campaign)
    place = Participation.objects.filter(surrogate_id=person.surrogate_id)
    assert place.get().standing == Standing.WARNED
    client.post(page, {"act": "reinstate", "reason": "Thank you."})
    rule_add(campaign=campaign, condition=gold_rule(Act.PAUSE), actor_id=boss.surrogate_id, now=timezone.now())
    for _ in range(2):
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert place.get().standing == Standing.PAUSED
    client.force_login(person)
    body = client.get(reverse("quality-standing", args=[campaign.slug])).content.decode()
    assert "stood out" in body
    assert "known answers" not in body


@pytest.mark.django_db
def test_a_dry_run_names_nobody_who_left(client):
    campaign = factories.antique(items=30, n=1, gold=12, policy=Policy(gold_rate=0, gold_first=5, gold_first_items=5))
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.vote(campaign, person, 1)
    factories.examine(campaign)
    client.force_login(factories.user(is_admin=True))
    url = reverse("quality-rules", args=[campaign.slug])
    form = {"collector": "gold", "is_above": "True", "limit": "0.4", "window": "5", "least": "2", "act": "notify"}
    client.post(url, {**form, "what": "try"})
    person_page = reverse("quality-person", args=[campaign.slug, person.surrogate_id])
    client.post(person_page, {"act": "exclude", "reason": "x", "since": "2026-01-01"})
    client.post(person_page, {"act": "exclude", "reason": "x", "since": "0001-01-01"})
    factories.run_jobs()
    assert str(person.surrogate_id) in client.get(url).content.decode()
    participation_withdrawn.send(
        sender=None, campaign=campaign, before=person.surrogate_id, after=factories.user().surrogate_id
    )
    said = [[job.payload, job.result] for job in Job.objects.filter(scope_id=campaign.pk, kind__startswith="quality.")]
    assert str(person.surrogate_id) not in json.dumps(said)
    assert str(person.surrogate_id) not in client.get(url).content.decode()


@pytest.mark.django_db
def test_no_rule_fires_at_work_of_who_left():
    """The same fact at the same time would say whose anonymous work it is."""
    campaign = factories.antique(items=12, n=1)
    same = Condition(Collector.SAME, True, 0.5, window=5, least=3, act=Act.NOTIFY)
    rule_add(campaign=campaign, condition=same, actor_id=factories.user().surrogate_id, now=timezone.now())
    person = factories.annotator(campaign)
    for _ in range(5):
        factories.vote(campaign, person, 4)
    factories.examine(campaign)
    assert RuleFiring.objects.get().surrogate_id == person.surrogate_id
    withdrawal_ask(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
    withdrawals_apply(timezone.now() + timedelta(days=8))
    factories.examine(campaign)
    assert Annotation.objects.filter(is_examined=True).count() == 5
    assert not RuleFiring.objects.exists()
