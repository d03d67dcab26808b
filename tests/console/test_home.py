"""Home: what there is to do, and what waits for a decision."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import campaign_move
from annotation.campaigns.services.numbers import numbers_refresh, numbers_request
from annotation.models import CampaignState, ItemReport, Participation, Snapshot
from jobs.models import Job, JobState
from jobs.services import job_enqueue
from quality.dashboard.services import MOST_DUE, STALE_MINUTES, numbers_due, quality_numbers_refresh
from quality.experts.services.cases import case_ask
from quality.experts.services.opinions import opinion_give
from quality.models import Case, CaseReason, QualitySnapshot
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_sqlite]


def home(client, person):
    client.force_login(person)
    answer = client.get(reverse("home"))
    return answer.context, answer.content.decode()


def refreshed(campaign):
    for refresh in (numbers_refresh, quality_numbers_refresh):
        refresh(campaign=campaign, now=timezone.now())
    return campaign


@pytest.fixture
def campaign():
    return factories.antique(items=4, n=3)


def manager_of(campaign):
    person = factories.user()
    factories.join(campaign, person, Role.MANAGER)
    return person


def test_an_annotator_reads_how_much_they_did_and_may_begin(client, campaign):
    person = factories.annotator(campaign)
    for _ in range(2):
        factories.vote(campaign, person, 3)
    _, page = home(client, person)
    assert "You've answered 2 items" in page and "Start labeling" in page
    campaign.quota = 3
    campaign.save()
    refreshed(campaign)
    context, page = home(client, person)
    assert "You've answered 2 of up to 3 items" in page
    assert context["work"][0].left == 1


def test_where_there_is_nothing_to_do_home_says_so(client, campaign):
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    campaign.quota = 1
    campaign.save()
    refreshed(campaign)
    _, page = home(client, person)
    assert "No items available right now" in page and "Start labeling" not in page and "Check for new items" in page
    for state, said in (
        (CampaignState.PAUSED, "This campaign is paused"),
        (CampaignState.CLOSED, "This campaign is closed"),
    ):
        campaign_move(campaign=campaign, to=state, actor_id=None, now=timezone.now())
        _, page = home(client, person)
        assert said in page and f'href="{reverse("work", args=[campaign.slug])}"' not in page


def test_who_was_stopped_reads_that_and_where_the_reason_is(client, campaign):
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    for standing, said in (
        ("suspended", "been suspended from this campaign"),
        ("paused", "A manager is reviewing your work"),
    ):
        Participation.objects.update(standing=standing)
        _, page = home(client, person)
        assert said in page
        assert "Start labeling" not in page
    assert reverse("quality-standing", args=[campaign.slug]) in page


def test_a_manager_reads_how_far_a_campaign_is_and_what_waits(client, campaign):
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    refreshed(campaign)
    item = campaign.items.filter(batch__purpose="work").first()
    ItemReport.objects.create(item=item, surrogate_id=person.surrogate_id, text="broken", created_at=timezone.now())
    kept = QualitySnapshot.objects.get()
    kept.data |= {"waiting": {"reviews": 3, "appeals": 2}}
    kept.data["workforces"] = [{"committed_cents": 1250, "cap_cents": 5000}]
    kept.save()
    _, page = home(client, manager_of(campaign))
    assert "1 of 12 annotations" in page
    assert "$12.50 of $50.00 spent or committed" in page
    for said in (
        "<strong>3</strong> annotator reviews",
        "<strong>2</strong> appeals against",
        "<strong>1</strong> question or report",
    ):
        assert said in page
    assert "Nothing to review" not in page


def test_a_failed_job_is_news_until_the_same_went_well(client, campaign):
    boss, now = manager_of(campaign), timezone.now()
    jobs = [
        job_enqueue(kind="quality.audit", payload={}, now=now - timedelta(hours=hour), scope_id=campaign.pk)
        for hour in (5, 4)
    ]
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(state=JobState.FAILED)
    _, page = home(client, boss)
    assert "<strong>2</strong> failed jobs" in page and reverse("job", args=[jobs[1].pk]) in page
    done = job_enqueue(kind="quality.audit", payload={}, now=now, scope_id=campaign.pk)
    Job.objects.filter(pk=done.pk).update(state=JobState.DONE)
    _, page = home(client, boss)
    assert "failed jobs" not in page


def test_where_something_waits_comes_first(client, campaign):
    quiet, boss = factories.antique(items=1), factories.user(is_admin=True)
    item = campaign.items.filter(batch__purpose="work").first()
    ItemReport.objects.create(item=item, surrogate_id=boss.surrogate_id, text="broken", created_at=timezone.now())
    context, _ = home(client, boss)
    assert [one.campaign for one, _ in context["campaign_cards"]] == [campaign, quiet]


def test_experts_and_researchers_see_no_numbers(client, campaign):
    refreshed(campaign)
    expert = factories.user()
    factories.join(campaign, expert, Role.EXPERT)
    context, page = home(client, expert)
    assert context["campaign_cards"] == [] and context["campaigns"] == [campaign]
    assert "of 12 annotations" not in page


def test_numbers_of_open_campaigns_are_kept_fresh(campaign):
    others = [factories.antique(items=1) for _ in range(2 * MOST_DUE)]
    campaign_move(campaign=others[0], to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    is_open = {campaign.pk, *(one.pk for one in others[1:])}
    for _ in range(60):  # each time some of them, by chance
        numbers_due(timezone.now())
        factories.run_jobs()
        if set(QualitySnapshot.objects.values_list("campaign", flat=True)) >= is_open:
            break
    assert set(QualitySnapshot.objects.values_list("campaign", flat=True)) == is_open
    assert Snapshot.objects.filter(campaign__state=CampaignState.OPEN).count() == 2 * MOST_DUE
    later = timezone.now() + timedelta(minutes=STALE_MINUTES + 1)
    for _ in range(2):  # what changed within seconds of the first numbers, then nothing
        before = Job.objects.count()
        for _ in range(60):
            numbers_due(later)
        factories.run_jobs()
    assert Job.objects.count() == before
    factories.vote(campaign, factories.annotator(campaign), 2)
    for _ in range(60):
        numbers_due(later)
    assert Job.objects.filter(scope_id=campaign.pk, state="queued", kind="quality.numbers").count() == 1


def test_numbers_that_take_long_are_computed_less_often(campaign):
    Snapshot.objects.all().delete()
    numbers_request(campaign=campaign, now=timezone.now())
    factories.run_jobs()
    job = Job.objects.get(kind="annotation.numbers")
    assert job.created_at <= job.started_at <= job.finished_at
    factories.vote(campaign, factories.annotator(campaign), 2)
    Job.objects.filter(pk=job.pk).update(started_at=job.finished_at - timedelta(seconds=30))
    assert numbers_request(campaign=campaign, now=job.finished_at + timedelta(seconds=269)) is None
    assert numbers_request(campaign=campaign, now=job.finished_at + timedelta(seconds=271)) is not None
    Job.objects.exclude(pk=job.pk).delete()
    Job.objects.filter(pk=job.pk).update(started_at=job.finished_at - timedelta(days=1))  # the machine slept
    assert numbers_request(campaign=campaign, now=job.finished_at + timedelta(minutes=61)) is not None


def test_numbers_that_failed_are_asked_for_again_after_minutes(campaign):
    Snapshot.objects.all().delete()
    job = numbers_request(campaign=campaign, now=timezone.now())
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, finished_at=timezone.now())
    assert numbers_request(campaign=campaign, now=timezone.now() + timedelta(minutes=1)) is None
    assert numbers_request(campaign=campaign, now=timezone.now() + timedelta(minutes=6)) is not None


def test_the_review_queue_links_to_what_is_reviewed_on_other_pages(client, campaign):
    manager = manager_of(campaign)
    client.force_login(manager)
    address = reverse("quality-decisions", args=[campaign.slug])
    assert "Nothing to review." in client.get(address).content.decode()
    asked = {"surrogate": manager.surrogate, "text": "unclear", "created_at": timezone.now()}
    ItemReport.objects.create(item=campaign.items.first(), **asked)
    annotator = factories.annotator(campaign)
    asked_experts = {"because": CaseReason.MANAGER, "experts": 1, "actor_id": manager.surrogate_id}
    case_ask(item=factories.vote(campaign, annotator, 3).item, now=timezone.now(), **asked_experts)
    refreshed(campaign)
    html = client.get(address).content.decode()
    assert "<strong>1</strong> case awaiting experts" in " ".join(html.split())
    assert "Nothing to review." not in html
    assert "<strong>1</strong> question or report" in " ".join(html.split())


def test_an_expert_sees_how_many_cases_they_can_judge(client, campaign):
    expert = factories.user()
    factories.join(campaign, expert, Role.EXPERT)
    first, second, *_ = campaign.items.filter(batch__purpose="work")
    annotator = factories.annotator(campaign)
    for _ in range(4):
        factories.vote(campaign, annotator, 3)
    asked = {"because": CaseReason.MANAGER, "experts": 1, "actor_id": factories.user().surrogate_id}
    for item in (first, second):
        case_ask(item=item, now=timezone.now(), **asked)
    _, page = home(client, expert)
    assert "<strong>2</strong> cases to judge" in " ".join(page.split())
    assert reverse("quality-cases", args=[campaign.slug]) in page
    case = Case.objects.get(item=first)
    said = {"label": 3}
    opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="read", now=timezone.now())
    _, page = home(client, expert)
    assert "<strong>1</strong> case to judge" in " ".join(page.split())
    case = Case.objects.get(item=second)
    opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="read", now=timezone.now())
    context, page = home(client, expert)
    assert context["expert_work"] == [] and "Expert cases" not in page
