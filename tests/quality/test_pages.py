"""The manager's and the expert's pages: who may see them, what they do, and that they tell no more than they may."""

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services import numbers as annotation_numbers
from quality.dashboard import services as quality_numbers
from quality.dashboard.services import quality_numbers_refresh
from quality.models import Case, Flag, Inspection, Opinion, Review, Verdict
from quality.policies.policy import Policy
from tests import factories
from workforces.models import Workforce
from workforces.services.workforces import workforce_add

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]
MANAGES = {
    "quality",
    "quality-gold",
    "quality-experts",
    "quality-decisions",
    "quality-inspect",
    "quality-workforces",
}


@pytest.fixture
def campaign():
    """Return a campaign with a paused person, a case, inspections and a flag."""
    made = factories.antique(
        items=2, gold=8, policy=Policy(gold_rate=0, gold_first=3, gold_first_items=3, inspection_rate=1.0)
    )
    careless = factories.annotator(made)
    for _ in range(3):
        factories.vote(made, careless, 1)
    factories.examine(made)
    Flag.objects.create(campaign=made, question_id="900000", created_at=timezone.now())
    return made


def member(campaign, role):
    person = factories.user()
    factories.join(campaign, person, role)
    return person


@pytest.mark.parametrize("role", [*Role.values, "stranger"])
def test_who_may_see_what(campaign, client, role):
    person = factories.user()
    if role != "stranger":
        factories.join(campaign, person, role)
    client.force_login(person)
    for name in MANAGES:
        allowed = role == "manager"
        assert client.get(reverse(name, args=[campaign.slug])).status_code == (200 if allowed else 404), name
    expected = 200 if role == "expert" else 404
    assert client.get(reverse("quality-cases", args=[campaign.slug])).status_code == expected
    review = Review.objects.get()
    url = reverse("quality-decide", args=[campaign.slug, "review", review.pk])
    assert client.post(url, {}).status_code == (302 if role == "manager" else 404)
    assert client.get(url).status_code in (405, 404)


def test_every_page_is_there_for_every_task_type(client):
    campaign = factories.campaign(items=1)
    client.force_login(member(campaign, Role.MANAGER))
    for name in MANAGES:
        assert client.get(reverse(name, args=[campaign.slug])).status_code == 200, name


def test_a_manager_decides_with_a_reason_and_nothing_of_another_campaign(campaign, client):
    boss = member(campaign, Role.MANAGER)
    client.force_login(boss)
    review = Review.objects.get()
    other = factories.antique(items=1)
    factories.join(other, boss, Role.MANAGER)
    assert (
        client.post(
            reverse("quality-decide", args=[other.slug, "review", review.pk]), {"choice": "suspend"}
        ).status_code
        == 404
    )
    url = reverse("quality-decide", args=[campaign.slug, "review", review.pk])
    page = client.post(url, {"choice": "suspend", "reason": ""}, follow=True)
    assert "Give a reason" in page.content.decode()
    client.post(url, {"choice": "suspend", "reason": "Missed what is obvious."})
    review.refresh_from_db()
    assert (review.state, review.decided_by_id) == ("suspended", boss.surrogate_id)
    flag = Flag.objects.get()
    client.post(reverse("quality-decide", args=[campaign.slug, "flag", flag.pk]), {"choice": "list"})
    flag.refresh_from_db()
    assert flag.is_listed


def test_inspections_come_one_by_one_and_can_take_work_out(client):
    campaign = factories.antique(items=1, policy=Policy(inspection_rate=1.0))
    for label in (4, 4, 2):
        factories.vote(campaign, factories.annotator(campaign), label)
    factories.examine(campaign)
    client.force_login(member(campaign, Role.MANAGER))
    url = reverse("quality-inspect", args=[campaign.slug])
    first = Inspection.objects.order_by("pk").first()
    assert b"How do you repair thing number 0?" in client.get(url).content
    client.post(url, {"inspection": first.pk, "verdict": "wrong", "exclude": "1"})
    first.refresh_from_db()
    first.annotation.refresh_from_db()
    assert (first.verdict, first.annotation.state) == ("wrong", "excluded")
    assert client.post(url, {"inspection": first.pk, "verdict": "nonsense"}).status_code == 404


def test_an_expert_sees_the_pair_and_nothing_that_others_said(client):
    campaign = factories.antique(items=1)
    for labels in ((4, 3, 2), (4, 3, 2)):
        for label in labels:
            factories.vote(campaign, factories.annotator(campaign), label)
        factories.examine(campaign)
    expert = member(campaign, Role.EXPERT)
    client.force_login(expert)
    url = reverse("quality-cases", args=[campaign.slug])
    page = client.get(url)
    assert b"How do you repair thing number 0?" in page.content
    assert not any(word in page.content.decode() for word in ("votes", "round 1", "majority"))
    client.post(url, {"case": Case.objects.get().pk, "label": "3", "justification": "It tries."})
    assert Opinion.objects.get().surrogate_id == expert.surrogate_id
    assert Verdict.objects.get().label == 3
    assert "No cases to judge" in client.get(url).content.decode()


def test_the_overview_shows_numbers_of_a_job_and_costs_the_same_for_many(
    campaign, client, django_assert_max_num_queries, monkeypatch
):
    for module in (annotation_numbers, quality_numbers):  # however slow this machine is, the page asks for none again
        monkeypatch.setattr(module, "STALE_SECONDS", 3600)
    client.force_login(member(campaign, Role.MANAGER))
    url = reverse("quality", args=[campaign.slug])
    assert "Calculating the numbers" in client.get(url).content.decode()
    quality_numbers_refresh(campaign=campaign, now=timezone.now())
    with django_assert_max_num_queries(12):
        page = client.get(url)
    assert b"Gold questions missed" in page.content


def test_the_wizard_estimates_before_it_posts(campaign, client):
    client.force_login(member(campaign, Role.MANAGER))
    url = reverse("quality-workforces", args=[campaign.slug])
    form = {
        "kind": "mturk",
        "title": "Judge",
        "description": "Judge a pair.",
        "reward_cents": "0.05",
        "training_bonus_cents": "0",
        "items_per_ticket": "1",
        "qualification": "own",
        "floor_cents_per_hour": "9.00",
        "approve_after_seconds": "0",
        "undo_seconds": "1",
        "has_fees": "on",
        "people": "6",
        "seconds_each": "30",
    }
    page = client.post(url, {**form, "estimate": "1"}).content.decode()
    assert "Estimate" in page
    assert "hourly pay is below your minimum" in page  # 5 cents for 30 seconds are 6 dollars an hour
    beyond = "exceeds your spending cap"
    assert beyond not in page
    assert beyond in client.post(url, {**form, "estimate": "1", "cap_cents": "0.10"}).content.decode()
    assert not Workforce.objects.exists()
    client.post(url, {**form, "launch": "1"})
    terms = Workforce.objects.get().terms
    assert (terms["reward_cents"], terms["floor_cents_per_hour"], terms["undo_seconds"]) == (5, 900, 60)
    shown = client.get(url).content.decode()
    assert (
        "Reward per task ($)</dt><dd>0.05" in shown
        and "(minutes)</dt><dd>1</dd>" in shown
        and "reward_cents =" not in shown
    )
    for wrong in ("0.005", "-1", "0", "1e9", "NaN"):
        client.post(url, {**form, "reward_cents": wrong, "launch": "1"})
    assert Workforce.objects.count() == 1
    wrong = client.post(url, {**form, "items_per_ticket": "0", "launch": "1"}).content.decode()
    assert "greater than or equal to 1" in wrong


def test_the_approval_list_is_a_table_that_no_spreadsheet_runs(campaign, client):
    row = workforce_add(
        campaign=campaign,
        kind="link",
        actor_id=None,
        now=timezone.now(),
        terms={"code_completed": "C1", "code_screened_out": "C2", "code_nothing_left": "C3"},
    )
    client.force_login(member(campaign, Role.MANAGER))
    response = client.get(reverse("approvals", args=[campaign.slug, row.pk]))
    assert b"".join(response.streaming_content).startswith(b"PROLIFIC_PID,SESSION_ID,outcome,answers")
