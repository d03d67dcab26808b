"""What people took back of gold keys is in no number that is shown: it is held neither against them nor for them."""

import pytest
from django.utils import timezone

from annotation.models import CampaignState
from annotation.services.campaigns import campaign_move
from annotation.services.undo import NothingToUndo, submission_undo
from quality.models import GoldCheck
from quality.selectors.gold import gold_of, keys_page
from quality.selectors.person import person_of
from quality.selectors.policies import policy_current
from quality.selectors.summary import people_of, summary_of
from tests import factories
from tests.quality.worlds import FIRST

pytestmark = pytest.mark.django_db


def test_a_check_of_an_answer_that_was_taken_back_is_in_no_number():
    campaign = factories.antique(items=4, n=1, gold=3, policy=FIRST)
    person = factories.annotator(campaign)
    wrong = factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert GoldCheck.objects.get().is_hit is False
    again = submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment
    assert again.item_id == wrong.item_id
    factories.submit(factories.label(again, 4))
    factories.examine(campaign)
    assert GoldCheck.objects.count() == 2
    [row] = people_of(campaign)
    assert (row["checks"], row["hits"]) == (1, 1)
    summary = summary_of(campaign)
    assert (summary.gold_checks, summary.gold_misses) == (1, 0)
    found = person_of(campaign=campaign, surrogate_id=person.surrogate_id)
    assert (found["checks"], found["misses"]) == (1, [])
    keys = keys_page(campaign=campaign, state="", after=0).keys
    assert max((key.checked, key.missed) for key in keys) == (1, 0)
    assert gold_of(campaign, policy_current(campaign)[1])["left"] > 0


def test_nothing_is_taken_back_from_a_campaign_that_is_closed():
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    campaign.refresh_from_db()
    with pytest.raises(NothingToUndo):
        submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())
