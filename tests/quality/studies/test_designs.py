"""A study is planned before anyone is asked for anything: what it takes, and why it cannot be made."""

from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.campaigns.services.campaigns import campaign_move
from annotation.items.selectors import items_drawn
from annotation.models import CampaignState, Item, Participation, Slot, Standing
from annotation.slots.services.slots import items_extend
from jobs.models import Job, JobState
from quality.studies.selectors.designs import StudyDesign, obstacles_of, study_needs
from tests import factories
from tests.quality.worlds import expert_of, nq

pytestmark = pytest.mark.django_db
DESIGN = StudyDesign(split="main", ways=6, sample=2, seed=0, experts=1)


@pytest.fixture
def world():
    """Return a campaign of three questions with two annotations each, seven annotators and an expert."""
    campaign = nq(n=2, items=3)
    expert_of(campaign)
    people = [factories.annotator(campaign) for _ in range(7)]
    for person in people[:2]:
        for _ in range(3):
            factories.annotate(campaign, person, label="good", box=0, kind="yes")
    return campaign, people


def design_of(campaign, **changes):
    return replace(DESIGN, split=campaign.splits.get().name, **changes)


def refusals(campaign, **changes):
    design = design_of(campaign, **changes)
    return [str(one) for one in obstacles_of(design, study_needs(campaign, design))]


def begin(client, campaign, **changes):
    """Plan a study and begin it, by the page; return what the page says of the plan."""
    client.force_login(factories.user(is_admin=True))
    path = reverse("quality-study-design", args=[campaign.slug])
    design = design_of(campaign, **changes)
    client.post(path, {name: getattr(design, name) for name in ("split", "ways", "sample", "seed", "experts")})
    factories.run_jobs()
    said = client.get(path).content.decode()
    client.post(path, {"begin": str(Job.objects.filter(kind="quality.study_needs").latest("created_at").pk)})
    factories.run_jobs()
    return said


def test_a_plan_says_what_a_study_takes(world):
    campaign, _people = world
    plan = study_needs(campaign, design_of(campaign))
    assert (plan.items, plan.annotations, plan.people) == (2, 8, 7)
    assert (plan.needed, plan.short, plan.experts, plan.others) == (4, 0, 1, 0)
    assert plan.cents == 0 and not plan.from_outside
    assert obstacles_of(design_of(campaign), plan) == []


def test_the_items_are_those_that_are_extended_then(world):
    campaign, _people = world
    items_extend(
        campaign=campaign, split=campaign.splits.get(), n=6, sample=1, seed=0, actor_id=None, now=timezone.now()
    )
    plan = study_needs(campaign, design_of(campaign))
    assert (plan.annotations, plan.others) == (4, 0)  # one of the two drawn items is extended already
    assert study_needs(campaign, design_of(campaign, sample=1)).annotations == 0


def test_people_who_met_an_item_or_were_stopped_are_no_further_people(world):
    campaign, people = world
    [why] = refusals(campaign, ways=8)
    assert (
        "needs 6 more annotators, but only 5 available annotators haven't seen it" in why and "at least 1 more" in why
    )
    Participation.objects.filter(campaign=campaign, surrogate_id=people[0].surrogate_id).update(submitted=3)
    assert refusals(campaign, ways=7) == []
    place, _ = Participation.objects.get_or_create(campaign=campaign, surrogate_id=people[6].surrogate_id)
    Participation.objects.filter(pk=place.pk).update(standing=Standing.SUSPENDED)
    [why] = refusals(campaign, ways=7)
    assert "needs 5 more annotators, but only 4" in why
    campaign.quota = 1  # both who answered have done it
    assert study_needs(campaign, design_of(campaign)).people == 4


def test_a_study_that_cannot_be_made_is_refused_with_the_reason(world):
    campaign, _people = world
    assert "5 annotations per item are used as references" in refusals(campaign, ways=5)[0]
    assert "Only 3 items" in refusals(campaign, sample=4)[0]
    assert "2 experts per item, but the campaign has only 1" in refusals(campaign, experts=2)[0]
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    campaign.refresh_from_db()
    assert "closed" in refusals(campaign)[0]


def test_two_draws_are_not_mixed(world):
    campaign, _people = world
    first, *others = (items_drawn(split=campaign.splits.get(), sample=1, seed=seed) for seed in range(20))
    other = next(seed for seed, found in enumerate(others, start=1) if found != first)
    items_extend(
        campaign=campaign, split=campaign.splits.get(), n=6, sample=1, seed=other, actor_id=None, now=timezone.now()
    )
    [why] = refusals(campaign, sample=1)
    assert "1 item outside this sample" in why


def test_the_page_plans_then_begins(world, client):
    campaign, _people = world
    said = begin(client, campaign)
    assert "Request 8 annotations" in said
    assert sorted(Item.objects.filter(campaign=campaign, batch__purpose="work").values_list("n", flat=True)) == [
        2,
        6,
        6,
    ]
    assert Slot.objects.filter(campaign=campaign, item__batch__purpose="work").count() == 14
    page = client.get(reverse("quality-study-design", args=[campaign.slug])).content.decode()
    assert "Annotation request" in page and "Ask for 8" not in page
    assert "?experts=1&amp;count=2&amp;least=6" in page


def test_what_cannot_be_made_is_not_begun_by_its_address_either(world, client):
    campaign, _people = world
    said = begin(client, campaign, ways=9)
    assert "at least 2 more" in said and "Ask for" not in said
    job = Job.objects.get(kind="quality.study_begin")
    assert job.state == JobState.FAILED and "at least 2 more" in job.error
    assert set(Item.objects.filter(campaign=campaign, batch__purpose="work").values_list("n", flat=True)) == {2}


def test_only_the_plan_that_was_looked_at_is_begun(world, client):
    campaign, _people = world
    client.force_login(factories.user(is_admin=True))
    path = reverse("quality-study-design", args=[campaign.slug])
    for value in ("1", "", "0f8e1b0e-8c5e-4a66-9d0f-000000000000"):
        page = client.post(path, {"begin": value}, follow=True)
        assert "planned in the meantime" in page.content.decode()
    assert not Job.objects.filter(kind="quality.study_begin").exists()


def test_people_of_other_campaigns_and_experts_do_not_count(world):
    campaign, _people = world
    factories.annotator(nq(n=1, items=1))
    factories.join(campaign, factories.user(), Role.RESEARCHER)
    assert study_needs(campaign, design_of(campaign)).people == 7


def test_a_link_to_the_experts_page_proposes_a_sample(world, client):
    campaign, _people = world
    client.force_login(factories.user(is_admin=True))
    page = client.get(
        reverse("quality-experts", args=[campaign.slug]), {"experts": "3", "least": '"><b>'}
    ).content.decode()
    assert 'name="experts" value="3"' in page and '"><b>' not in page
