"""What follows from a written question: a review by another, then an answer given blind by a third."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.campaigns.services.campaigns import NewSplit
from annotation.items.services.items import item_retire
from annotation.models import Annotation, AnnotationState, Item, ItemBar, ItemState, Purpose, Slot
from annotation.people.services.joining import participation_join
from annotation.people.services.withdrawal import participation_withdraw
from annotation.slots.services.claims import Reason, slot_claim_next
from annotation.slots.services.counting import annotation_count_again, annotations_exclude
from annotation.slots.services.sweeps import assignments_expire
from annotation.tasktypes.base import AnswerError
from annotation.tasktypes.registry import TASK_TYPES
from annotation.work.services.undo import submission_undo
from tests import factories, writing

pytestmark = pytest.mark.django_db
QUESTION = "高等数学是哪一年出版的？"


@pytest.fixture
def campaign():
    return writing.campaign()


@pytest.fixture
def people(campaign):
    return [factories.annotator(campaign) for _ in range(4)]


def state(annotation):
    annotation.refresh_from_db()
    return annotation.state


def test_a_written_question_is_reviewed_by_a_second_and_answered_by_a_third_person(campaign, people):
    author, reviewer, third, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    assert writing.asked(campaign, author) is None  # nobody reviews what they wrote
    reviewed = writing.review(campaign, reviewer)
    assert reviewed.item.follows == written
    factories.examine(campaign)
    assert writing.asked(campaign, author) is None and writing.asked(campaign, reviewer) is None
    answered = writing.recover(campaign, third, "2004年")
    factories.examine(campaign)
    assert answered.item.follows == reviewed
    assert answered.answer["answer"] == "2004年"
    assert TASK_TYPES["kbqa"].recovers(answered.item.content, answered.answer)
    assert not Item.objects.filter(follows=answered).exists()


def test_follow_ups_lie_apart_from_the_dataset(campaign, people):
    writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    [item] = Item.objects.filter(follows__isnull=False)
    assert (item.batch.purpose, item.split.name, item.n) == (Purpose.REVIEW, "train", 1)


def test_looking_again_asks_nothing_twice(campaign, people):
    written = writing.write(campaign, people[0], QUESTION)
    for _ in range(2):
        written.__class__.objects.filter(pk=written.pk).update(is_examined=False)
        factories.examine(campaign)
    assert Item.objects.filter(follows=written).count() == 1


def test_a_rejected_question_counts_no_longer_and_another_is_asked_for(campaign, people):
    author, reviewer, third, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, reviewer, "reject", reason="unclear", note="哪本书？")
    factories.examine(campaign)
    assert state(written) == AnnotationState.EXCLUDED
    assert written.changes.get().because == "refused in review: unclear"
    again = writing.asked(campaign, third)
    assert again is not None and again.item == written.item  # the slot is open again
    assert Item.objects.get(follows=written).state == ItemState.ACTIVE  # the review stands


def test_a_rejection_that_is_taken_back_lets_the_question_count_again(campaign, people):
    author, reviewer = people[:2]
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, reviewer, "reject", reason="unclear")
    factories.examine(campaign)
    submission_undo(campaign=campaign, surrogate_id=reviewer.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert state(written) == AnnotationState.COUNTED
    reviewed = writing.review(campaign, reviewer)
    factories.examine(campaign)
    assert Item.objects.get(follows=reviewed).content["asks"] == "recover"


def test_an_edit_goes_on_with_both_texts_kept(campaign, people):
    writing.write(campaign, people[0], "高数是哪年出的？")
    factories.examine(campaign)
    reviewed = writing.review(campaign, people[1], "edit", question=QUESTION)
    assert (reviewed.answer["was"], reviewed.answer["question"]) == ("高数是哪年出的？", QUESTION)
    factories.examine(campaign)
    assert Item.objects.get(follows=reviewed).content["question"] == QUESTION


def test_what_followed_from_a_question_that_is_taken_back_is_asked_no_longer(campaign, people):
    author, reviewer = people[:2]
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    held = writing.asked(campaign, reviewer)
    submission_undo(campaign=campaign, surrogate_id=author.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert Item.objects.get(follows=written).state == ItemState.RETIRED
    held.refresh_from_db()
    assert held.state == "released"
    again = writing.send(writing.asked(campaign, author), "write", question="高等数学哪年问世？").annotation
    factories.examine(campaign)
    assert writing.asked(campaign, reviewer) is None  # who met the fact
    assert writing.asked(campaign, people[2]).item.follows == again


@pytest.mark.parametrize(
    ("chosen", "asks"), [({"review": False}, "recover"), ({"recovery": False}, "review"), ({}, "review")]
)
def test_a_campaign_chooses_what_follows(chosen, asks):
    campaign = writing.campaign(options=chosen)
    people = [factories.annotator(campaign) for _ in range(3)]
    writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    assert writing.asked(campaign, people[1]).item.content["asks"] == asks
    if "recovery" in chosen:
        writing.send(writing.asked(campaign, people[1]), "review", decision="accept")
        factories.examine(campaign)
        assert writing.asked(campaign, people[2]) is None


def test_a_fact_alone_is_not_answered_blind():
    campaign = writing.campaign(rows=[{"triple": "隆德 ||| 河流 ||| 赫耶河"}], options={"review": False})
    writing.write(campaign, factories.annotator(campaign), "哪条河流经隆德？")
    factories.examine(campaign)
    assert not Item.objects.filter(follows__isnull=False).exists()


def test_a_pilot_is_for_its_questions_alone():
    campaign = writing.campaign(rows=[])
    factories.import_rows(campaign, writing.TRIPLES[:1], pilot=True)
    factories.launch(campaign)
    writing.write(campaign, factories.annotator(campaign), QUESTION)
    factories.examine(campaign)
    assert not Item.objects.filter(follows__isnull=False).exists()


def test_who_withdraws_is_named_by_no_bar(campaign, people):
    written = writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    assert ItemBar.objects.filter(surrogate_id=people[0].surrogate_id).exists()
    participation_withdraw(campaign=campaign, surrogate_id=people[0].surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert not ItemBar.objects.filter(surrogate_id=people[0].surrogate_id).exists()
    assert Item.objects.get(follows=written).state == ItemState.RETIRED


def test_who_waits_for_others_is_told_that_there_is_nothing_for_them(campaign, people):
    writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    claim = slot_claim_next(campaign=campaign, surrogate_id=people[0].surrogate_id, now=timezone.now())
    assert claim.reason in (Reason.ALL_SEEN, Reason.NOTHING_OPEN)


def test_a_review_by_a_visit_of_the_author_does_not_count(campaign, people):
    author, visit, reviewer = people[:3]
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    own = writing.review(campaign, visit)
    with transaction.atomic():
        participation_join(campaign=campaign, before=visit.surrogate_id, after=author.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert state(own) == AnnotationState.EXCLUDED
    assert not Item.objects.filter(follows=own, state=ItemState.ACTIVE).exists()
    again = writing.review(campaign, reviewer)
    assert again.item.follows == written


def test_a_bar_follows_a_visit_to_its_person(campaign, people):
    visit, person = people[:2]
    writing.write(campaign, visit, QUESTION)
    factories.examine(campaign)
    with transaction.atomic():
        participation_join(campaign=campaign, before=visit.surrogate_id, after=person.surrogate_id, now=timezone.now())
    assert writing.asked(campaign, person) is None


def test_who_writes_for_the_same_fact_later_is_not_asked_about_the_first_question():
    campaign = writing.campaign(splits=[NewSplit("train", 2)])
    first, second, third = [factories.annotator(campaign) for _ in range(3)]
    writing.write(campaign, first, QUESTION)
    held = writing.asked(campaign, second)  # the same fact, before anything follows from the first question
    factories.examine(campaign)
    writing.send(held, "write", question="高数何时问世？")
    factories.examine(campaign)
    for person in (first, second):
        asked = writing.asked(campaign, person)
        assert asked is None, asked.item.content
    assert writing.asked(campaign, third).item.content["asks"] == "review"


def test_who_is_given_a_fact_after_its_question_was_written_is_not_asked_about_that():
    campaign = writing.campaign(splits=[NewSplit("train", 2)])
    first, second = [factories.annotator(campaign) for _ in range(2)]
    writing.write(campaign, first, QUESTION)
    factories.examine(campaign)
    Slot.objects.filter(item__follows__isnull=False).update(state="held")  # the review is in other hands for now
    assert "asks" not in writing.asked(campaign, second).item.content
    Slot.objects.filter(item__follows__isnull=False).update(state="open")
    assert ItemBar.objects.filter(surrogate_id=second.surrogate_id, item__follows__isnull=False).exists()


def test_what_was_said_by_who_had_met_it_does_not_count(campaign, people):
    author, reviewer = people[:2]
    writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    ItemBar.objects.all().delete()  # as if both had been given at one moment
    own = writing.review(campaign, author, "reject", reason="other")
    factories.examine(campaign)
    assert state(own) == AnnotationState.EXCLUDED
    assert state(Annotation.objects.get(answer__asks="write")) == AnnotationState.COUNTED
    assert writing.asked(campaign, reviewer).item == own.item


def test_a_late_review_does_not_undo_a_rejection(campaign, people):
    author, late, reviewer, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    held = writing.asked(campaign, late)
    held.__class__.objects.filter(pk=held.pk).update(deadline_at=timezone.now() - timedelta(hours=1))
    assignments_expire(timezone.now())
    writing.review(campaign, reviewer, "reject", reason="wrong")
    factories.examine(campaign)
    writing.send(held, "review", decision="accept")
    factories.examine(campaign)
    assert state(written) == AnnotationState.EXCLUDED


def test_who_reviewed_one_question_does_not_answer_another_for_the_same_fact_blind():
    campaign = writing.campaign()
    a, b, d, e, f = [factories.annotator(campaign) for _ in range(5)]
    writing.write(campaign, a, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, b, "reject", reason="other")
    factories.examine(campaign)
    assert writing.asked(campaign, b) is None  # nor do they write what they rejected
    writing.write(campaign, d, "高数何时问世？")
    factories.examine(campaign)
    writing.review(campaign, e)
    factories.examine(campaign)
    assert [writing.asked(campaign, person) for person in (a, b, d, e)] == [None] * 4
    assert writing.asked(campaign, f).item.content["asks"] == "recover"


def test_a_refused_text_cannot_be_handed_in_by_another(campaign, people):
    writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    writing.review(campaign, people[1], "reject", reason="other")
    factories.examine(campaign)
    with pytest.raises(AnswerError, match="already exists"):
        writing.write(campaign, people[2], QUESTION)


def test_nothing_is_asked_blind_about_a_question_that_died(campaign, people):
    author, reviewer, third, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, reviewer)
    factories.examine(campaign)
    with transaction.atomic():
        annotations_exclude(annotations=[written], because="manager", actor_id=None, now=timezone.now())
    factories.examine(campaign)
    assert not Item.objects.filter(follows__isnull=False, state=ItemState.ACTIVE).exists()
    assert "asks" not in writing.asked(campaign, third).item.content


def test_a_visit_and_its_person_who_reviewed_its_question_are_one(campaign, people):
    visit, person, reviewer = people[:3]
    written = writing.write(campaign, visit, QUESTION)
    factories.examine(campaign)
    own = writing.review(campaign, person)
    factories.examine(campaign)
    with transaction.atomic():
        participation_join(campaign=campaign, before=visit.surrogate_id, after=person.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert state(written) == AnnotationState.EXCLUDED  # of an item that the person had met under their own name
    own.item.refresh_from_db()
    assert own.item.state == ItemState.RETIRED
    assert writing.asked(campaign, reviewer).item == written.item


def test_a_review_whose_question_lost_its_place_is_asked_no_longer(campaign, people):
    author, reviewer, other, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, reviewer, "reject", reason="other")
    factories.examine(campaign)
    writing.write(campaign, other, "高数何时问世？")
    submission_undo(campaign=campaign, surrogate_id=reviewer.surrogate_id, now=timezone.now())
    factories.examine(campaign)
    assert state(written) == AnnotationState.EXCLUDED
    assert Item.objects.get(follows=written).state == ItemState.RETIRED


def test_a_question_that_a_manager_counts_again_is_reviewed_anew(campaign, people):
    author, reviewer, other, _ = people
    written = writing.write(campaign, author, QUESTION)
    factories.examine(campaign)
    writing.review(campaign, reviewer, "reject", reason="other")
    factories.examine(campaign)
    with transaction.atomic():
        assert annotation_count_again(annotation=written, because="manager", actor_id=None, now=timezone.now())
    factories.examine(campaign)
    assert state(written) == AnnotationState.COUNTED
    assert writing.asked(campaign, other).item.content["asks"] == "review"


def test_what_follows_goes_with_a_retired_item_and_a_retired_review_is_asked_anew(campaign, people):
    written = writing.write(campaign, people[0], QUESTION)
    factories.examine(campaign)
    actor = factories.user().surrogate_id
    item_retire(item=Item.objects.get(follows=written), reason="broken", actor_id=actor, now=timezone.now())
    factories.examine(campaign)
    assert Item.objects.filter(follows=written, state=ItemState.ACTIVE).count() == 1
    item_retire(item=written.item, reason="broken", actor_id=actor, now=timezone.now())
    factories.examine(campaign)
    assert not Item.objects.filter(follows=written, state=ItemState.ACTIVE).exists()
