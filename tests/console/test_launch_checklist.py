"""The launch checklist names missing steps with a button each, and marks the others as ready."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from accounts.services import invitation_create, membership_grant
from annotation.campaigns.services.campaigns import guideline_publish
from annotation.models import BatchState, CampaignState, Purpose
from annotation.tasktypes.registry import TASK_TYPES
from console.launch_checklist import launch_checklist
from quality.models import GoldKeyState
from tests import factories
from workforces.services.workforces import workforce_add

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(campaign):
    """Return the campaign before its launch."""
    campaign.state = CampaignState.DRAFT
    campaign.save()
    return campaign


def missing(campaign):
    return {str(step.label) for step in launch_checklist(campaign) if not step.is_done}


def join(campaign, role, **kwargs):
    user = factories.user(**kwargs)
    membership_grant(user=user, scope_id=campaign.pk, role=role, actor_id=None, now=timezone.now())
    return user


def test_each_step_is_ready_once_it_is_done(draft):
    assert missing(draft) == {"Items", "Pilot", "Gold questions", "Annotators"}  # no plan: this task type has no votes
    assert "Plan" in missing(factories.antique(items=1))
    join(draft, Role.ANNOTATOR)
    assert "Annotators" not in missing(draft)
    factories.import_questions(draft, ["where is the harbour"])
    assert "Items" not in missing(draft)
    guideline_publish(campaign=draft, body=" ", note="", actor_id=None, now=timezone.now())
    assert "Guidelines" in missing(draft)


def test_a_split_that_no_item_was_drawn_into_is_named(draft):
    draft.splits.create(name="rare", n=1, weight=1, position=9)
    assert "Splits" not in missing(draft)  # there are no items at all
    factories.import_questions(draft, ["where is the harbour"])
    drawn = draft.items.get().split
    step = next(step for step in launch_checklist(draft) if str(step.label) == "Splits")
    empty = [split.name for split in draft.splits.order_by("position") if split.weight and split != drawn]
    assert f"No items in these splits: {', '.join(empty)}." in str(step.if_missing)
    draft.splits.exclude(pk=drawn.pk).update(weight=0)
    assert "Splits" not in missing(draft)


def test_an_item_may_need_more_annotators_than_are_invited():
    pairs = factories.antique(items=1, n=3)  # three votes, and in a second round three others
    for _ in range(5):
        factories.join(pairs, factories.user(), Role.ANNOTATOR)
    step = next(step for step in launch_checklist(pairs) if str(step.label) == "Annotators")
    assert not step.is_done
    assert str(step.if_missing) == (
        "An item without a majority gets a second round with other annotators. It needs up to 6 annotators, and you've invited 5."
    )
    invitation_create(
        scope_id=pairs.pk,
        role=Role.ANNOTATOR,
        uses=1,
        days=1,
        note="",
        actor_id=factories.user().surrogate_id,
        now=timezone.now(),
    )
    assert "Annotators" not in missing(pairs)


def test_a_pilot_is_ready_once_it_is_finished(draft):
    factories.import_questions(draft, ["where is the harbour"], pilot=True, people=1)
    assert "Pilot" in missing(draft)
    factories.launch(draft)
    step = next(step for step in launch_checklist(draft) if str(step.label) == "Pilot")
    assert "still running" in str(step.if_missing) and not step.is_done
    factories.annotate(draft, factories.annotator(draft), label="bad")
    assert "Pilot" not in missing(draft)


def test_gold_that_waits_for_an_expert_needs_an_expert(campaign):
    factories.import_questions(campaign, ["where is the harbour"])
    item = campaign.items.get()
    key = campaign.gold_keys.create(item=item, accepted=[], state=GoldKeyState.WAITING)
    assert {"Experts", "Gold questions"} <= missing(campaign)
    join(campaign, Role.EXPERT)
    assert "Experts" not in missing(campaign)
    key.state = GoldKeyState.ACTIVE
    key.save()
    assert "Gold questions" not in missing(campaign)


def test_pay_is_held_against_the_minimum(draft):
    now, seconds = timezone.now(), TASK_TYPES[draft.task_type].usual_seconds
    assert "Pay" not in {str(step.label) for step in launch_checklist(draft)}  # nobody is paid
    enough = -(-900 * seconds * 10 // 3600)
    codes = {f"code_{outcome}": outcome for outcome in ("completed", "screened_out", "nothing_left")}
    terms = {"items_per_ticket": 10, "floor_cents_per_hour": 900, **codes}
    workforce_add(campaign=draft, kind="link", terms={**terms, "reward_cents": enough}, actor_id=None, now=now)
    assert "Pay" in {str(step.label) for step in launch_checklist(draft)} - missing(draft)
    workforce_add(campaign=draft, kind="link", terms={**terms, "reward_cents": enough - 1}, actor_id=None, now=now)
    assert "Pay" in missing(draft)


def test_a_manager_sees_it_before_the_launch_only(draft):
    client = Client()
    client.force_login(join(draft, Role.MANAGER))
    address = reverse("campaign", args=[draft.slug])
    html = client.get(address).content.decode()
    assert "Launch checklist" in html
    for step in launch_checklist(draft):
        if not step.is_done:
            assert reverse(step.url, args=[draft.slug]) in html.split("Launch checklist")[1]
    factories.import_questions(draft, ["where is the harbour"])
    draft.state = CampaignState.OPEN
    draft.save()
    assert "Launch checklist" in client.get(address).content.decode()  # as while a pilot runs
    draft.batches.filter(purpose=Purpose.WORK).update(state=BatchState.OPEN)
    assert "Launch checklist" not in client.get(address).content.decode()


def test_a_researcher_sees_no_checklist_and_no_state_buttons(draft):
    client = Client()
    client.force_login(join(draft, Role.RESEARCHER))
    html = client.get(reverse("campaign", args=[draft.slug])).content.decode()
    assert "Launch checklist" not in html
    assert reverse("campaign-state", args=[draft.slug]) not in html


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        ("draft", {"Launch checklist"}),
        ("open", {"Pause", "Close"}),
        ("paused", {"Resume", "Close"}),
        ("closed", {"Resume"}),
    ],
)
def test_state_buttons_stand_beside_the_title_of_every_page(campaign, state, buttons):
    campaign.state = state
    campaign.save()
    client = Client()
    client.force_login(join(campaign, Role.MANAGER))
    for url in ("campaign", "items", "quality-gold"):
        html = client.get(reverse(url, args=[campaign.slug])).content.decode()
        row = html.split('class="title-row"')[1].split('<nav class="sections"')[0]
        assert {word for word in ("Launch checklist", "Pause", "Resume", "Close") if f">{word}<" in row} == buttons
