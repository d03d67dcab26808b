"""Annotators who did the pilot, before there were gold questions, are checked as often as the others after it."""

import pytest
from django.utils import timezone

from annotation.campaigns.services.numbers import numbers_refresh
from annotation.items.services.items import pilot_draw
from annotation.models import Batch, Injection
from annotation.people.selectors.progress import progress_of
from jobs.terminal import run_here
from quality.models import GoldKeyState
from quality.policies.policy import Policy
from tests import factories

pytestmark = pytest.mark.django_db

PILOT, ITEMS = 3, 12


@pytest.fixture
def piloted():
    """Return a campaign whose pilot one of two annotators has finished; gold questions came after it."""
    policy = Policy(gold_rate=0, gold_first=4, gold_first_items=10)
    campaign = factories.antique(items=0, n=2, policy=policy)
    factories.import_rows(campaign, factories.pairs(PILOT + ITEMS))
    pilot_draw(campaign=campaign, items=PILOT, people=1, actor_id=None, now=timezone.now())
    payload = {"campaign": str(campaign.pk), "batch": Batch.objects.get(purpose="pilot").pk}
    run_here(kind="annotation.launch", payload=payload, stderr=factories.Quiet(), scope_id=campaign.pk)
    old, new = factories.annotator(campaign), factories.annotator(campaign)
    for _ in range(PILOT):
        factories.vote(campaign, old, 4)
    assert not Injection.objects.exists()
    keys = factories.gold_keys(campaign, 6)
    assert {key.state for key in keys} == {GoldKeyState.ACTIVE}
    factories.launch(campaign)
    return campaign, old, new


def test_gold_begins_with_the_first_item_after_the_pilot(piloted):
    campaign, old, new = piloted
    for person in (old, new):
        for _ in range(10):
            factories.vote(campaign, person, 4)
    for person in (old, new):
        assert Injection.objects.filter(surrogate=person.surrogate_id, slot__state="filled").count() == 4


def test_what_is_left_counts_items_that_are_open_and_neither_annotations_nor_the_pilot(piloted):
    campaign, old, new = piloted
    for person, known in ((old, PILOT), (new, 0)):
        done = 0
        while True:
            numbers_refresh(campaign=campaign, now=timezone.now())
            [found] = progress_of([campaign], person.surrogate_id)
            if not found.left:
                break
            factories.vote(campaign, person, 4)
            done += 1
        assert done == ITEMS + 4
        assert found.submitted == known + ITEMS + 4
