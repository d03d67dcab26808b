"""The statistics of the ANTIQUE paper over a small campaign, counted by hand."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Annotation
from quality.models import Case, CaseReason, CaseState
from quality.policies.policy import Policy, Process
from quality.policies.services import policy_publish
from tests import factories
from tests.quality.labels.test_audits import judge
from tests.quality.worlds import expert_of, nq

pytestmark = pytest.mark.django_db


def study(campaign):
    out = StringIO()
    call_command("study", campaign.slug, "antique", json=True, stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def judged():
    """Return a campaign of four pairs: two agreed on at once, one in the second round, one by an expert."""
    campaign = factories.antique(items=4, n=3)
    items = list(campaign.items.filter(batch__purpose="work").order_by("pk"))
    said = {items[0].pk: (4, 4, 4), items[1].pk: (3, 3, 1), items[2].pk: (4, 3, 2), items[3].pk: (4, 3, 1)}
    again = {items[2].pk: (2, 2, 1), items[3].pk: (4, 3, 2)}
    for votes in (said, again):
        for turn in range(3):
            person = factories.annotator(campaign)
            for _ in votes:
                assignment = factories.claim(campaign, person)
                factories.submit(factories.label(assignment, votes[assignment.item_id][turn]))
        factories.examine(campaign)
    judge(Case.objects.get(state=CaseState.OPEN), expert_of(campaign), 1)
    factories.run_jobs()
    return campaign, items


def test_the_numbers_are_those_of_a_count_by_hand(judged):
    campaign, items = judged
    found = study(campaign)
    train = found["splits"]["train"]
    questions = {item.content["question_id"] for item in items}
    # Each of the four questions has an asker's choice of its own, which is a 4 without a vote.
    assert (train["questions"], train["answers"], train["known_without_a_vote"]) == (len(questions), 4, 4)
    assert train["labels"] == {"4": 1 + 4, "3": 1, "2": 1, "1": 1}
    words = {item.content["question_id"]: len(item.content["question_text"].split()) for item in items}
    assert train["question_length"] == pytest.approx(sum(words.values()) / len(words), abs=0.01)
    assert (found["workers"], found["judgments"], found["by_expert"]) == (6, 18, 1)
    assert [
        (row["batch"], row["round"], row["none"]["share"], row["none"]["items"]) for row in found["no_agreement"]
    ] == [
        (items[0].batch.ordinal, 1, 0.5, 4),
        (items[0].batch.ordinal, 2, 0.5, 2),
    ]
    assert sum(int(n) * count for n, count in found["answers_per_question"].items()) == 4
    assert sum(row["questions"] for row in found["trigrams"]) == len(questions)
    assert found["cost"] == {"rewards": 0, "bonuses": 0, "fees": 0}


def test_what_an_expert_decided_by_request_found_no_agreement_either(judged):
    campaign, items = judged
    Case.objects.update(because=CaseReason.MANAGER)
    second = study(campaign)["no_agreement"][1]
    assert (second["round"], second["none"]["share"]) == (2, 0.5)


def test_where_no_majority_is_asked_for_there_is_no_share_without_one(judged):
    campaign, _items = judged
    assert study(campaign)["no_agreement"]
    policy_publish(campaign=campaign, policy=Policy(process=Process.TARGET), actor_id=None, now=timezone.now())
    assert study(campaign)["no_agreement"] == []


def test_what_was_taken_back_or_nobody_vouches_for_is_no_judgment():
    campaign = factories.antique(items=2, n=2)
    person = factories.annotator(campaign)
    annotation = factories.vote(campaign, person, 4)
    factories.vote(campaign, person, 4)
    found = study(campaign)
    assert (found["workers"], found["judgments"], found["excluded_and_paid"]) == (1, 2, 0)
    for state in ("undone", "given_up", "provisional"):
        Annotation.objects.filter(pk=annotation.pk).update(state=state)
        found = study(campaign)
        assert (found["workers"], found["judgments"], found["excluded_and_paid"]) == (1, 1, 0), state
    assert found["splits"]["train"]["answers"] == 0  # nothing is judged yet


def test_answers_that_are_not_voted_on_have_none():
    with pytest.raises(CommandError, match="voted on"):
        study(nq(n=1, items=1))
