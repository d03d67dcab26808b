"""The page of an item: what everybody said of it side by side, what differs, and what happened to it."""

import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.items.selectors import answers_side_by_side, comparison_of, pilot_items
from annotation.models import Annotation
from annotation.slots.services.exclusions import annotation_exclude
from annotation.work.services.submissions import assignment_skip
from annotation.work.services.undo import submission_undo
from quality.experts.services.cases import case_ask
from quality.experts.services.opinions import opinion_give
from quality.models import Case, CaseReason
from tests import factories
from tests.quality.worlds import expert_of, nq, three_answers

pytestmark = pytest.mark.django_db


def page_of(client, campaign, item):
    client.force_login(factories.user(is_admin=True))
    return client.get(reverse("item", args=[campaign.slug, item.pk])).content.decode()


def test_what_most_do_not_say_is_marked():
    campaign = factories.antique(items=1, n=3)
    for label in (4, 4, 2):
        factories.vote(campaign, factories.annotator(campaign), label)
    found = comparison_of(answers_side_by_side(campaign.items.get()))
    assert [str(column) for column in found.columns] == ["label", "answers in the flowchart"]
    marked = {(cells[0].text, cells[0].differs) for _answer, cells in found.rows}
    assert marked == {("4 – convincing", False), ("2 – on topic", True)}
    assert not any(cells[1].differs for _answer, cells in found.rows)


def test_where_no_value_has_most_votes_each_differs_and_what_is_out_has_no_vote():
    campaign = factories.antique(items=1, n=3)
    people = [factories.annotator(campaign) for _ in range(3)]
    votes = [factories.vote(campaign, person, label) for person, label in zip(people, (4, 4, 2), strict=True)]
    annotation_exclude(annotation=votes[0], because="manager", actor_id=None, now=timezone.now())
    found = comparison_of(answers_side_by_side(campaign.items.get()))
    assert [cells[0].differs for _answer, cells in found.rows] == [True, True, True]


def test_the_page_holds_what_each_marked_for_those_who_count(client):
    campaign = nq(n=3, items=1)
    item = three_answers(campaign)
    page = page_of(client, campaign, item)
    marks = json.loads(re.search(r'<script id="marks" type="application/json">(.*?)</script>', page)[1])
    assert sorted(mark["box"] for mark in marks) == [0, 1]
    assert len({mark["letter"] for mark in marks}) == 2
    assert page.count("<template data-words-of=") == 2
    annotation_exclude(
        annotation=Annotation.objects.filter(answer__long_answer__candidate_index=0)[0],
        because="manager",
        actor_id=None,
        now=timezone.now(),
    )
    assert page_of(client, campaign, item).count("<template data-words-of=") == 1


def test_the_history_tells_what_happened_in_its_order_without_names(client):
    campaign = factories.antique(items=1, n=1)
    first, second, boss = factories.annotator(campaign), factories.annotator(campaign), factories.user()
    held = factories.claim(campaign, first)
    assignment_skip(
        assignment_id=held.pk, surrogate_id=first.surrogate_id, reason="unclear", note="", now=timezone.now()
    )
    factories.vote(campaign, second, 2)
    submission_undo(campaign=campaign, surrogate_id=second.surrogate_id, now=timezone.now())
    factories.vote(campaign, second, 3)
    factories.examine(campaign)
    item = campaign.items.get()
    case_ask(item=item, because=CaseReason.MANAGER, experts=1, actor_id=boss.surrogate_id, now=timezone.now())
    page = page_of(client, campaign, item)
    history = page[page.index('id="history"') :]
    order = [history.index(what) for what in ("imported", "skipped", "undone", "labeled", "sent to experts")]
    assert order == sorted(order)
    assert "unclear" in history
    for person in (first, second):
        assert str(person) not in page
        assert str(person.surrogate_id) not in page


def test_the_history_tells_what_experts_judged_once_their_case_is_decided(client):
    campaign, boss = nq(n=2, items=1), factories.user()
    for box in (0, 1):
        factories.annotate(campaign, factories.annotator(campaign), label="good", box=box, kind="yes")
    item = campaign.items.get()
    case_ask(item=item, because=CaseReason.MANAGER, experts=2, actor_id=boss.surrogate_id, now=timezone.now())
    case = Case.objects.get()
    said = dict.fromkeys((part["key"] for part in case.parts), "debatable")
    for is_decided in (False, True):
        expert = expert_of(campaign)
        opinion_give(case=case, surrogate_id=expert.surrogate_id, said=said, justification="", now=timezone.now())
        page = page_of(client, campaign, item)
        assert ("Independent judgment: 1. Passage: Correct, but debatable; 2. " in page) == is_decided


def test_in_the_pilot_a_person_has_one_letter_in_all_items():
    campaign = factories.campaign(n=2)
    rows = [{"id": str(number), "question": f"question {number}", "document": "harbour.html"} for number in range(3)]
    factories.import_rows(campaign, rows, pilot=True, people=2)
    factories.launch(campaign)
    people = [factories.annotator(campaign) for _ in range(2)]
    for person, label in zip(people, ("good", "bad"), strict=True):
        for _ in range(3):
            factories.annotate(campaign, person, label=label)
    differing = pilot_items(campaign)["differing"]
    assert len(differing) == 3
    letters = {
        (answer.letter, answer.annotation.surrogate_id) for _item, found in differing for answer, _cells in found.rows
    }
    assert len(letters) == 2
    assert [[answer.letter for answer, _ in found.rows] for _item, found in differing] == [["A", "B"]] * 3


def test_what_is_done_says_what_will_happen_first_and_how_to_take_it_back_after(client):
    campaign = factories.antique(items=1, n=1)
    vote = factories.vote(campaign, factories.annotator(campaign), 3)
    page = page_of(client, campaign, campaign.items.get())
    assert "Another annotator can answer the item instead" in page
    told = client.post(reverse("annotation-exclude", args=[campaign.slug, vote.pk]), follow=True).content.decode()
    assert "To undo this, choose “Count again”" in told
    told = client.post(reverse("annotation-restore", args=[campaign.slug, vote.pk]), follow=True).content.decode()
    assert "Annotation restored." in told
    overview = client.get(reverse("campaign", args=[campaign.slug])).content.decode()
    assert "won't be assigned" in overview
    person = client.get(reverse("quality-person", args=[campaign.slug, vote.surrogate_id])).content.decode()
    assert "1 answer will be excluded and reassigned" in person
