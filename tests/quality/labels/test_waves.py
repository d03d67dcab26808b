"""Votes that are bought in waves until the share of wrong labels is acceptable: the whole of it, with answers made up here."""

from contextlib import contextmanager

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import AnnotationState, Slot, SlotState
from annotation.slots.services.exclusions import annotation_exclude
from jobs.models import Job
from jobs.work import Work
from measures.targets import Stop
from quality.dashboard.services import quality_numbers_refresh
from quality.labels.selectors.audits import audits_of, label_error_of
from quality.labels.services import waves
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import Audit, Case, CaseReason, CaseState, Rule, TargetSnapshot, Verdict, Wave
from quality.policies.policy import Policy, Process
from quality.policies.selectors import policy_current
from quality.policies.services import PolicyError, policy_publish
from tests import factories
from tests.quality.labels.target_worlds import ITEMS, World, target_policy
from tests.quality.worlds import nq
from workforces import selectors as workforce_selectors
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


def extra(**filters):
    return Slot.objects.filter(round=2, **filters)


def test_votes_are_bought_only_after_the_first_ones_and_where_there_is_doubt():
    world = World()
    assert world.look() == {}
    assert not Wave.objects.exists()
    world.work()
    found = world.look()
    wave = Wave.objects.get()
    assert wave.is_complete and wave.done == len(wave.votes) == ITEMS // 10
    assert set(extra(state=SlotState.OPEN).values_list("item", flat=True)) == set(wave.votes)
    assert found["predicted"] == pytest.approx(wave.predicted) and found["predicted"] > 0.05


def test_a_vote_of_a_wave_is_claimed_like_any_and_counts_with_the_others():
    world = World()
    world.work()
    world.look()
    bought = Wave.objects.get().votes
    assert world.work() == ITEMS // 10
    verdicts = Verdict.objects.filter(item__in=bought, superseded_at=None)
    assert {(verdict.rule, verdict.annotations.count()) for verdict in verdicts} == {("plurality", 4)}
    slots = Slot.objects.filter(item=bought[0]).order_by("round", "index")
    assert [(slot.round, slot.index) for slot in slots] == [(1, 0), (1, 1), (1, 2), (2, 0)]


@pytest.mark.slow
def test_it_stops_at_the_target_only_once_an_audit_said_how_much_to_doubt():
    world = World(budget_cents=1_000_000)
    found = world.settle()
    assert (found["stop"], found["calibration"]) == (Stop.TARGET, None)
    audit = world.audit()
    found = world.settle()
    assert (found["stop"], found["calibration"]) == (Stop.TARGET, audit.pk)
    assert found["predicted"] <= 0.05 and found["undecided"] == 0


def test_it_stops_at_the_budget(monkeypatch):
    monkeypatch.setattr("quality.labels.selectors.targets.answer_cents", lambda _campaign: 6.0)
    world = World(budget_cents=50, error=0.01, expert_cents=100)
    found = world.run()
    assert found["stop"] == Stop.BUDGET
    assert (found["spent_cents"], extra().count()) == (48, 8)
    assert not Case.objects.exists()


def test_what_votes_cannot_settle_goes_to_experts_whose_word_is_the_label():
    world = World(right=0.45, most=4)
    found = world.run()
    assert found["stop"] == Stop.VOTES
    cases = Case.objects.filter(because=CaseReason.DOUBT)
    assert cases.exists() and not extra(state=SlotState.OPEN).exists()
    items = set(cases.values_list("item", flat=True))
    world.judge(CaseReason.DOUBT)
    labels = Verdict.objects.filter(item__in=items, superseded_at=None).values_list("rule", "label")
    assert set(labels) == {("expert", 4)}
    found = world.look()
    assert found["stop"] == Stop.TARGET and found["by_experts"] == len(items)


def test_each_wave_waits_for_most_of_the_last_one():
    world = World()
    world.work()
    world.look()
    world.look()
    assert Wave.objects.count() == 1
    world.work()
    world.look()
    assert Wave.objects.count() == 2


def test_a_wave_that_was_cut_off_goes_on_where_it_was(monkeypatch):
    world = World()
    world.work()
    monkeypatch.setattr(waves, "CHUNK", 1)
    opened = []
    real = waves._open

    def cut(*arguments, **named):
        if len(opened) == 2:
            raise KeyboardInterrupt
        opened.append(real(*arguments, **named))

    monkeypatch.setattr(waves, "_open", cut)
    with pytest.raises(KeyboardInterrupt):
        world.look()
    wave = Wave.objects.get()
    assert (wave.done, wave.is_complete, extra().count()) == (2, False, 2)
    monkeypatch.setattr(waves, "_open", real)
    Job.objects.update(state="queued", lease_until=None)
    factories.run_jobs()
    wave.refresh_from_db()
    assert (wave.done, wave.is_complete, extra().count()) == (4, True, 4)
    assert extra().values("item").distinct().count() == 4


def outcome(world):
    """Return what a run came to: each wave with its items, and the labels."""
    names = dict(world.campaign.items.values_list("pk", "external_id"))
    bought = [
        ([names[pk] for pk in wave.votes], [names[pk] for pk in wave.cases], wave.cents, round(wave.predicted, 9))
        for wave in Wave.objects.filter(campaign=world.campaign).order_by("number")
    ]
    labels = Verdict.objects.filter(campaign=world.campaign, superseded_at=None).values_list("item", "label", "rule")
    slots = extra(campaign=world.campaign).values_list("item", "index", "state")
    return bought, sorted((names[pk], *rest) for pk, *rest in labels), sorted((names[pk], *rest) for pk, *rest in slots)


@pytest.mark.slow
def test_whatever_is_killed_the_same_is_bought(monkeypatch):
    """The job is cut off before or after two of each three of its transactions, and goes on."""
    unbroken = World(items=20, right=0.6, most=5)
    unbroken.run()
    monkeypatch.setattr(waves, "CHUNK", 1)
    calls, kills, real = 0, 0, Work.step

    @contextmanager
    def step(work, **given):
        nonlocal calls, kills
        calls += work.job.kind == waves.KIND
        moment = calls % 3 if work.job.kind == waves.KIND else 2
        kills += moment < 2
        if moment == 0:
            raise KeyboardInterrupt
        with real(work, **given):
            yield
        if moment == 1:
            raise KeyboardInterrupt

    killed = World(items=20, right=0.6, most=5)
    run_jobs = factories.run_jobs

    def run_again():
        while True:
            try:
                return run_jobs()
            except KeyboardInterrupt:
                Job.objects.filter(state="running").update(state="queued", lease_until=None)

    monkeypatch.setattr(Work, "step", step)
    monkeypatch.setattr(factories, "run_jobs", run_again)
    killed.run()
    assert kills > 50
    assert outcome(killed) == outcome(unbroken)


def test_a_vote_that_is_excluded_is_asked_for_again_and_its_price_is_spent(monkeypatch):
    monkeypatch.setattr("quality.labels.selectors.targets.answer_cents", lambda _campaign: 6.0)
    world = World(budget_cents=100_000)
    world.work()
    world.look()
    world.work()
    spent = world.look()["spent_cents"]
    annotation = extra(state=SlotState.FILLED).first().annotations.get(state=AnnotationState.COUNTED)
    annotation_exclude(annotation=annotation, because="x", actor_id=world.boss.surrogate_id, now=timezone.now())
    assert extra(state=SlotState.OPEN).exists()
    assert world.look()["spent_cents"] >= spent + 6


def test_no_item_gets_more_votes_than_the_most_however_often_it_is_named():
    world = World(most=4)
    world.work()
    world.look()
    wave = Wave.objects.get()
    Wave.objects.update(done=0, is_complete=False)  # as if it had been planned a second time by what was read before
    world.look()
    assert not Slot.objects.filter(item__in=wave.votes, round=2).exclude(index=0).exists()


def test_an_expert_case_is_recalled_when_the_item_loses_a_first_vote():
    world = World(right=0.45, most=3)
    world.run()
    case = Case.objects.filter(because=CaseReason.DOUBT, state=CaseState.OPEN).first()
    annotation = case.item.annotations.filter(slot__round=1).first()
    annotation_exclude(annotation=annotation, because="x", actor_id=world.boss.surrogate_id, now=timezone.now())
    factories.examine(world.campaign)
    case.refresh_from_db()
    assert case.state == CaseState.RECALLED


def test_an_expert_case_of_a_wave_lasts_as_long_as_the_campaign_has_a_target():
    world = World(right=0.45, most=4)
    world.run()
    cases = Case.objects.filter(because=CaseReason.DOUBT, state=CaseState.OPEN)
    open_ones = set(cases.values_list("item", flat=True))
    assert open_ones
    judge_again(world.campaign, open_ones)
    assert set(cases.values_list("item", flat=True)) == open_ones
    policy_publish(campaign=world.campaign, policy=Policy(process=Process.FIXED), actor_id=None, now=timezone.now())
    judge_again(world.campaign, open_ones)
    labeled = Verdict.objects.filter(item__in=open_ones, superseded_at=None).exclude(rule=Rule.EXPERT)
    assert not cases.filter(item__in=labeled.values("item")).exists()


def judge_again(campaign, item_ids):
    """Have items judged by the policy in force."""
    version, policy = policy_current(campaign)
    with transaction.atomic():
        items_judge(items=items_lock(item_ids), version=version, policy=policy, now=timezone.now())


@pytest.mark.slow
def test_the_audit_that_calibrates_measures_nothing_and_stays_the_one(client):
    world = World(budget_cents=1_000_000)
    world.settle()
    first = world.audit(wrong=3)
    world.settle()
    assert label_error_of(world.campaign) is None
    second = world.audit()
    found = world.settle()
    assert found["calibration"] == first.pk
    measured = label_error_of(world.campaign)
    assert (measured["audit"], measured["audits"]) == (second.pk, 2)
    assert [one["calibrates"] for one in audits_of(world.campaign)] == [False, True]
    quality_numbers_refresh(campaign=world.campaign, now=timezone.now())
    client.force_login(world.boss)
    page = client.get(reverse("quality-audits", args=[world.campaign.slug])).content.decode()
    assert page.count("releases don't report it") == 1
    assert Audit.objects.count() == 2


def test_where_no_vote_makes_a_label_there_is_no_target():
    with pytest.raises(PolicyError, match="doesn't use voting"):
        policy_publish(campaign=nq(), policy=target_policy(), actor_id=None, now=timezone.now())
    campaign = factories.antique(items=2, n=3)
    with pytest.raises(PolicyError, match="start with 3 votes"):
        policy_publish(campaign=campaign, policy=target_policy(most=2), actor_id=None, now=timezone.now())
    campaign.items.update(n=25)
    with pytest.raises(PolicyError, match="require more"):
        policy_publish(campaign=campaign, policy=target_policy(), actor_id=None, now=timezone.now())


def test_an_answer_costs_what_its_share_of_the_dearest_ticket_costs():
    campaign = factories.antique(items=2)
    assert workforce_selectors.answer_cents(campaign) == 0
    workforce_add(
        campaign=campaign,
        kind="mturk",
        terms={"reward_cents": 10, "items_per_ticket": 4, "qualification": "own"},
        actor_id=None,
        now=timezone.now(),
    )
    assert workforce_selectors.answer_cents(campaign) == 3.0


def test_the_page_says_how_far_it_is_and_what_it_would_cost_elsewhere(client):
    world = World(budget_cents=1_000_000)
    client.force_login(world.boss)
    page = reverse("quality-target", args=[world.campaign.slug])
    assert "once a batch has its first votes" in client.get(page).content.decode()
    world.work()
    world.look()
    text = client.get(page).content.decode()
    assert "Collecting votes" in text and "Waves" in text
    TargetSnapshot.objects.update(data={**TargetSnapshot.objects.get().data, "stop": Stop.TARGET})
    assert "An audit is needed" in client.get(page).content.decode()
    chart = client.get(reverse("quality-chart-csv", args=[world.campaign.slug, "target"])).content.decode()
    assert chart.count("so far") == Wave.objects.count() + 1
    given = {"items": 200, "accuracy": 0.8, "fewest": 3, "vote_cents": 6}
    assert "$0.00" in client.get(page, given).content.decode()
    other = factories.antique(items=1)
    assert "has no error target" in client.get(reverse("quality-target", args=[other.slug])).content.decode()
    assert "doesn't use voting" in client.get(reverse("quality-target", args=[nq().slug])).content.decode()
