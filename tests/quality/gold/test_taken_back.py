"""The first answer to a gold key is its check, taken back or not; what is taken back is asked for once at a time."""

import pytest
from django.utils import timezone

from annotation.campaigns.services.campaigns import campaign_move
from annotation.models import CampaignState
from annotation.work.services.submissions import assignment_skip
from annotation.work.services.undo import NothingToUndo, submission_undo
from quality.dashboard.selectors.agreement import agreement_of
from quality.dashboard.selectors.summary import people_of, summary_of
from quality.gold.selectors import gold_of, keys_page
from quality.models import GoldCheck
from quality.people.selectors.person import person_of
from quality.policies.policy import Policy
from quality.policies.selectors import policy_current
from tests import factories
from tests.quality.worlds import FIRST

pytestmark = pytest.mark.django_db


def test_the_first_answer_to_a_key_is_its_check_in_every_number_though_it_was_taken_back():
    campaign = factories.antique(items=4, n=1, gold=3, policy=FIRST)
    person = factories.annotator(campaign)
    wrong = factories.vote(campaign, person, 1)
    factories.examine(campaign)
    assert GoldCheck.objects.get().is_hit is False
    again = submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment
    assert again.item_id == wrong.item_id
    factories.submit(factories.label(again, 4))
    factories.examine(campaign)
    assert GoldCheck.objects.count() == 1
    [row] = people_of(campaign)
    assert (row["checks"], row["hits"]) == (1, 0)
    summary = summary_of(campaign)
    assert (summary.gold_checks, summary.gold_misses) == (1, 1)
    found = person_of(campaign=campaign, surrogate_id=person.surrogate_id)
    assert (found["checks"], len(found["misses"])) == (1, 1)
    keys = keys_page(campaign=campaign, state="", after=0).keys
    assert max((key.checked, key.missed) for key in keys) == (1, 1)
    assert gold_of(campaign, policy_current(campaign)[1])["left"] > 0


def test_nothing_is_taken_back_from_a_campaign_that_is_closed():
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    campaign_move(campaign=campaign, to=CampaignState.CLOSED, actor_id=None, now=timezone.now())
    campaign.refresh_from_db()
    with pytest.raises(NothingToUndo):
        submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now())


def test_an_answer_that_was_taken_back_before_it_was_looked_at_is_the_check_all_the_same():
    campaign = factories.antique(items=4, n=1, gold=3, policy=FIRST)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 1)
    again = submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment
    factories.submit(factories.label(again, 4))
    factories.examine(campaign)
    assert [check.is_hit for check in GoldCheck.objects.all()] == [False]


def test_who_tries_labels_until_their_standing_is_well_learns_nothing_and_is_paused():
    """Open each answer again and give another: the checks are the first answers, whatever comes after."""
    policy = Policy(gold_rate=0, gold_first=12, gold_first_items=12, inspection_rate=0)
    campaign = factories.antique(items=40, n=1, gold=24, policy=policy)
    person = factories.annotator(campaign)
    standings = []
    for _ in range(12):
        place = campaign.participations.filter(surrogate_id=person.surrogate_id).first()
        if place is not None and place.standing == "paused":
            break
        factories.vote(campaign, person, 1)
        factories.examine(campaign)
        for label in (2, 4):
            before = campaign.participations.get(surrogate_id=person.surrogate_id).standing
            if before == "paused":
                break
            again = submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment
            factories.submit(factories.label(again, label))
            factories.examine(campaign)
            after = campaign.participations.get(surrogate_id=person.surrogate_id).standing
            standings.append((before, after))
    assert campaign.participations.get(surrogate_id=person.surrogate_id).standing == "paused"
    assert all(before == after for before, after in standings)


def test_what_was_taken_back_and_skipped_is_no_part_of_the_agreement_as_collected():
    campaign = factories.antique(items=2, n=2)
    people = [factories.annotator(campaign) for _ in range(3)]
    for person, label in zip(people[:2], (4, 4), strict=True):
        for _ in range(2):
            factories.vote(campaign, person, label)
    submission_undo(campaign=campaign, surrogate_id=people[1].surrogate_id, now=timezone.now())
    held = campaign.assignments.get(state="live")
    assignment_skip(
        assignment_id=held.pk, surrogate_id=people[1].surrogate_id, reason="unclear", note="", now=timezone.now()
    )
    factories.vote(campaign, people[2], 1)
    [row, *_] = agreement_of(campaign)["agreement"]
    assert row["with_excluded"] == row["counted"]
