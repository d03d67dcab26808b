"""Plans: what campaigns come to by several policies, before a cent is spent."""

import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from measures.agreement import Level
from measures.targets import Target
from quality.dashboard.services import quality_numbers_refresh
from quality.gold.key_statistics import keys_needed
from quality.models import CampaignPlan, QualitySnapshot, Rule
from quality.plans.asking import PlanError, crowd_assumed, policy_named
from quality.plans.engine import NAMES, plans_of
from quality.plans.playing import Run, staff_of
from quality.plans.setting import Setting
from quality.plans.views import came_of
from quality.plans.words import TITLES, span, written
from quality.policies.policy import Policy, Process
from tests import factories
from workforces.money import fee_cents

SETTING = Setting(items=400, people=40, spam=0.1)


@pytest.fixture(scope="module")
def model():
    return crowd_assumed("1234", no_majority=0.13, care=0.92, votes=3, seconds=20, level=Level.ORDINAL)


def run_of(model, seed=1, setting=SETTING, **policy):
    return Run(model, Policy(**policy), setting, np.random.default_rng(seed))


def test_nobody_votes_twice_on_an_item_and_every_item_gets_its_votes(model):
    run = run_of(model)
    played = run.play()
    for votes in run.seen:
        given = votes[votes >= 0]
        assert len(set(given)) == len(given) >= 3
    assert played.counts.sum() == sum(len(items) for items, _, _ in played.rounds)


def test_the_paper_s_process_asks_again_where_there_is_no_majority_and_then_an_expert(model):
    run = run_of(model)
    played = run.play()
    first = np.zeros_like(played.counts)
    for items, _, labels in played.rounds[:3]:
        first[items, labels] += 1
    has_majority = 2 * first.max(axis=1) > 3
    assert played.no_majority == pytest.approx(1 - has_majority.mean())
    assert (played.counts.sum(axis=1) == np.where(has_majority, 3, 6)).all()
    assert (played.label[has_majority] == first[has_majority].argmax(axis=1)).all()
    assert played.cases == (played.label < 0).sum() > 0


def test_a_fixed_number_of_votes_costs_less_and_leaves_more_to_experts(model):
    found = plans_of(model, {"paper": Policy(), "fixed": Policy(process=Process.FIXED)}, SETTING, runs=4)
    assert found["fixed"]["cents"].value < found["paper"]["cents"].value
    assert found["fixed"]["expert_cases"].value > found["paper"]["expert_cases"].value
    assert found["fixed"]["alpha"] == found["paper"]["alpha"]  # the same people on the same items


def test_a_target_buys_votes_until_it_is_reached_or_the_budget_is_spent(model):
    poor, rich = (
        plans_of(
            model,
            {"t": Policy(process=Process.TARGET, target=Target(error=0.12, budget_cents=cents, most=9))},
            SETTING,
            runs=3,
        )["t"]
        for cents in (500, 100_000)
    )
    assert poor["judgments"].value < rich["judgments"].value
    assert rich["label_error"].value < poor["label_error"].value


def test_gold_pauses_who_does_not_read_and_their_work_is_paid_and_done_again(model):
    spammed, watched = replace(SETTING, spam=0.3), Policy(gold_first=10, gold_first_items=30, gold_rate=0.05)
    caught = staff_of(model, spammed, watched, np.random.default_rng(2))
    assert caught.suspended > 0
    assert caught.excluded > 0
    assert caught.shares[caught.care == 0].sum() < 0.3
    unwatched = staff_of(model, spammed, Policy(gold_first=0, gold_rate=0.0), np.random.default_rng(2))
    assert unwatched.suspended == unwatched.excluded == unwatched.checks == 0
    assert unwatched.shares[unwatched.care == 0].sum() == pytest.approx(0.3, abs=0.06)


def test_money_is_every_answer_with_its_fee(model):
    plain = plans_of(
        model, {"p": Policy(gold_first=0, gold_rate=0.0, process=Process.FIXED)}, replace(SETTING, spam=0), runs=1
    )["p"]
    assert plain["judgments"].value == 3 * SETTING.items
    assert plain["cents"].value == 3 * SETTING.items * (SETTING.reward_cents + fee_cents(SETTING.reward_cents))
    free = plans_of(
        model,
        {"p": Policy(gold_first=0, gold_rate=0.0, process=Process.FIXED)},
        replace(SETTING, spam=0, has_fees=False),
        runs=1,
    )["p"]
    assert free["cents"].value == 3 * SETTING.items * SETTING.reward_cents


def test_a_large_campaign_is_played_in_part_and_scaled_up(model):
    small, large = (
        plans_of(model, {"p": Policy()}, replace(SETTING, items=items, people=200), runs=2)["p"]
        for items in (5_000, 50_000)
    )
    assert large["judgments"].value == pytest.approx(10 * small["judgments"].value, rel=0.1)
    assert large["label_error"].value == pytest.approx(small["label_error"].value, abs=0.03)
    each = round((large["judgments"].value + large["gold_checks"].value) / 200)
    assert large["gold_keys"].value == pytest.approx(keys_needed(people=200, items_each=each, policy=Policy()), abs=3)


def test_policies_are_named_shortly_and_bad_names_are_refused():
    base = Policy(gold_rate=0.07)
    assert policy_named("fixed", base) == replace(base, process=Process.FIXED)
    assert policy_named("target:0.1", base).target.error == 0.1
    for text in ("majority", "paper:3", "target:x", "target:0.9", "target:0.1:2:3"):
        with pytest.raises(PlanError, match=text.split(":")[0]):
            policy_named(text, base)


def test_every_number_has_a_title_and_is_written_as_people_read_it():
    assert list(TITLES) == list(NAMES)
    assert written("cents", 12_345) == "$123.45"
    assert written("cents", 3_412_345) == "$34,123"
    assert written("label_error", 0.1234) == "12.3%"
    assert (written("suspended", 2.6), written("suspended", 3.0)) == ("2.6", "3")
    assert span("days", {"value": 3.0, "low": 3.0, "high": 3.0}) == "3.0"
    assert span("days", {"value": 3.0, "low": 2.0, "high": 4.0}) == "3.0 (2.0 to 4.0)"


def planned(*arguments):
    out = StringIO()
    call_command("plan", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_compares_policies_without_a_database():
    text = planned("--items", "300", "--people", "30", "--runs", "2", "--policy", "paper", "--policy", "fixed")
    assert "wrong labels" in text
    assert text.splitlines()[2].split() == ["paper", "fixed"]
    for arguments in (["--people", "30"], ["--items", "10", "--people", "2"], ["--items", "10", "--policy", "x"]):
        with pytest.raises(CommandError):
            planned(*arguments)


def test_the_command_learns_a_crowd_from_judgments(tmp_path, model):
    chance, rows, truth = np.random.default_rng(3), ["item,worker,label,seconds"], ["item,truth"]
    true, said = model.items(150, chance)
    for item in range(150):
        truth.append(f"i{item},{true[item] + 1}")
        rows += [
            f"i{item},p{who},{1 + chance.choice(4, p=said[item])},{chance.integers(8, 60)}"
            for who in chance.choice(12, 4, replace=False)
        ]
    (tmp_path / "labels.csv").write_text("\n".join(rows))
    (tmp_path / "truth.csv").write_text("\n".join(truth))
    arguments = ["--items", "500", "--people", "30", "--runs", "2", "--policy", "paper", "--json"]
    found = json.loads(
        planned(*arguments, "--crowd", str(tmp_path / "labels.csv"), "--truth", str(tmp_path / "truth.csv"))
    )
    pilot = found["pilot"]
    assert pilot["accuracy"]["low"] < pilot["accuracy"]["value"] < pilot["accuracy"]["high"]
    assert found["setting"]["spam"] == 0  # the crowd is fitted to people of whom one did not read
    alone = json.loads(planned(*arguments, "--crowd", str(tmp_path / "labels.csv")))
    assert alone["pilot"]["accuracy"]["value"] is None
    with pytest.raises(CommandError, match="no item of the pilot has 8 judgments"):
        planned(*arguments, "--votes", "8", "--crowd", str(tmp_path / "labels.csv"))


@pytest.mark.django_db(transaction=True)
def test_a_forecast_is_kept_with_its_campaign():
    campaign = factories.antique(items=3)
    planned(campaign.slug, "--people", "20", "--runs", "2", "--keep")
    planned(campaign.slug, "--people", "25", "--runs", "2", "--keep")
    kept = list(CampaignPlan.objects.filter(campaign=campaign).order_by("pk"))
    assert [one.data["setting"]["people"] for one in kept] == [20, 25]
    assert kept[0].data["setting"]["items"] == campaign.items.count()
    assert set(kept[0].data["plans"]) == {"paper"}
    with pytest.raises(CommandError, match="--keep needs a campaign"):
        planned("--items", "10", "--keep")


@pytest.mark.django_db(transaction=True)
def test_the_page_says_of_which_crowd_a_forecast_is(client, tmp_path):
    campaign, manager = factories.antique(items=3), factories.user()
    factories.join(campaign, manager, "manager")
    client.force_login(manager)
    address = reverse("campaign-plan", args=[campaign.slug])
    planned(campaign.slug, "--people", "20", "--runs", "2", "--keep")
    assert "The simulated crowd is based on assumptions." in client.get(address).content.decode()
    rows = [f"i{item},p{who},{1 + (item + who // 3) % 4}" for item in range(40) for who in range(4)]
    (tmp_path / "pilot.csv").write_text("\n".join(["item,worker,label", *rows]))
    planned(campaign.slug, "--people", "20", "--runs", "2", "--crowd", str(tmp_path / "pilot.csv"), "--keep")
    assert "The simulated crowd is fitted to the judgments in pilot.csv." in client.get(address).content.decode()


def page_names(client, address):
    return client.get(address).context["names"]


@pytest.mark.django_db(transaction=True)
def test_a_manager_makes_a_forecast_on_the_page_and_sees_what_came_beside_it(client):
    campaign = factories.antique(items=3, n=3)
    manager = factories.user()
    factories.join(campaign, manager, "manager")
    client.force_login(manager)
    address = reverse("campaign-plan", args=[campaign.slug])
    page = client.get(address)
    assert page.context["form"].initial["items"] == 3
    asked = {
        "items": 300,
        "votes": 3,
        "people": 40,
        "reward_cents": 5,
        "answers_a_day": 60,
        "no_majority": 0.13,
        "spam": 0.1,
        "error": 0.1,
        "budget": "50.00",
        "seed": 1,
    }
    refused = client.post(address, {**asked, "people": 3})
    assert "Enter more annotators" in refused.content.decode()
    assert client.post(address, asked).status_code == 302
    assert "is being calculated" in client.post(address, asked).content.decode()
    factories.run_jobs()
    kept = CampaignPlan.objects.get(campaign=campaign)
    assert kept.data["names"] == page_names(client, address) == ["paper", "fixed", "target"]
    assert kept.data["policies"]["target"]["target"]["budget_cents"] == 5_000
    assert kept.data["setting"]["level"] == "ordinal"
    for person in [factories.annotator(campaign) for _ in range(3)]:
        for _ in range(3):
            factories.vote(campaign, person, 3)
    factories.examine(campaign)
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    text = client.get(address).content.decode()
    assert "Predicted label error" in text
    assert 'class="plot"' in text
    row = next(row for row in client.get(address).context["rows"] if str(row[0]) == "judgments")
    assert row[2] == "9"
    assert client.get(address).context["form"].initial["people"] == 40


@pytest.mark.django_db
def test_what_came_is_measured_as_the_forecast_measures_it():
    campaign, now = factories.antique(items=3), timezone.now()
    quality_numbers_refresh(campaign=campaign, now=now)
    snapshot = QualitySnapshot.objects.get(campaign=campaign)
    snapshot.data["summary"] |= {"judgments": 30, "no_agreement_first": 2, "rules": {Rule.MAJORITY: 6, Rule.EXPERT: 1}}
    snapshot.data["audits"] = [
        {"calibrates": False},
        {"share": 0.5, "calibrates": True},
        {"share": 0.2, "calibrates": False},
    ]
    snapshot.save()
    came = came_of(campaign)
    assert came["no_majority"] == 0.25  # of the pairs whose first round is complete, not of all
    assert came["label_error"] == 0.2  # by an audit that bought no votes
    snapshot.data["summary"]["rules"] = {Rule.PLURALITY: 6}
    snapshot.save()
    assert "no_majority" not in came_of(campaign)


@pytest.mark.django_db(transaction=True)
def test_a_campaign_without_votes_has_no_forecast(client):
    campaign = factories.campaign()
    manager = factories.user()
    factories.join(campaign, manager, "manager")
    client.force_login(manager)
    assert "doesn't vote on labels" in client.get(reverse("campaign-plan", args=[campaign.slug])).content.decode()
    with pytest.raises(CommandError, match="doesn't use voting"):
        planned(campaign.slug)
