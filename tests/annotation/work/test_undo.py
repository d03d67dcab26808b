"""Taking answers back: the last one or another, for a while, one at a time, and none of them is lost."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.items.services.items import item_retire
from annotation.models import Annotation, AnnotationState, Assignment, CountedChange, Participation, Slot
from annotation.slots.services.sweeps import assignments_expire
from annotation.work.selectors import MOST, UNDO_SECONDS, recent_answers
from annotation.work.services.undo import NothingToUndo, OpenedAgain, submission_undo
from quality.models import GoldCheck
from tests import factories
from tests.quality.worlds import FIRST

pytestmark = pytest.mark.django_db


def undo(campaign, person, annotation, now=None):
    return submission_undo(
        campaign=campaign, surrogate_id=person.surrogate_id, now=now or timezone.now(), annotation_id=annotation.pk
    )


def test_an_earlier_answer_is_opened_again_and_the_new_one_is_another_annotation():
    campaign = factories.antique(items=4, n=1)
    person = factories.annotator(campaign)
    first, _second = (factories.vote(campaign, person, label) for label in (1, 2))
    in_hand = factories.claim(campaign, person)
    again = undo(campaign, person, first).assignment
    assert again.item_id == first.item_id
    factories.submit(factories.label(again, 4))
    kept = Annotation.objects.filter(item=first.item).order_by("pk")
    assert [(row.state, row.answer["label"]) for row in kept] == [("undone", 1), ("counted", 4)]
    assert factories.claim(campaign, person).item_id == in_hand.item_id  # what was in hand comes next


def test_one_answer_is_open_at_a_time():
    """The slot of a second would go to others, and the answer would be lost to who gave it."""
    campaign = factories.antique(items=4, n=1)
    person = factories.annotator(campaign)
    first, second = (factories.vote(campaign, person, label) for label in (1, 2))
    undo(campaign, person, first)
    with pytest.raises(OpenedAgain):
        undo(campaign, person, second)
    assert Annotation.objects.get(pk=second.pk).state == AnnotationState.COUNTED
    assert Assignment.objects.get(state="live").item_id == first.item_id


def test_what_is_too_old_or_somebody_elses_is_not_opened():
    campaign = factories.antique(items=2, n=2)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    mine = factories.vote(campaign, person, 1)
    with pytest.raises(NothingToUndo):
        undo(campaign, other, mine)
    with pytest.raises(NothingToUndo):
        undo(campaign, person, mine, now=mine.submitted_at + timedelta(seconds=UNDO_SECONDS + 1))
    assert Annotation.objects.get().state == AnnotationState.COUNTED


def test_known_answers_are_opened_again_like_the_others(client):
    campaign = factories.antique(items=4, n=1, gold=3, policy=FIRST)
    person = factories.annotator(campaign)
    votes = [factories.vote(campaign, person, 1) for _ in range(5)]
    purposes = {row.item.batch.purpose for row in Annotation.objects.select_related("item__batch")}
    assert purposes == {"gold", "work"}
    client.force_login(person)
    page = client.get(reverse("recent", args=[campaign.slug])).content.decode()
    assert page.count("Reopen (until") == 5
    for vote in votes:
        response = client.post(reverse("recent", args=[campaign.slug]), {"annotation": vote.pk})
        assert response["Location"] == reverse("work", args=[campaign.slug])
        held = Assignment.objects.get(state="live")
        assert held.item_id == vote.item_id
        factories.submit(factories.label(held, 2))
    assert Annotation.objects.filter(state="counted").count() == 5


def test_the_list_says_what_was_answered_and_is_short(client):
    campaign = factories.antique(items=MOST + 3, n=1)
    person = factories.annotator(campaign)
    for _ in range(MOST + 2):
        factories.vote(campaign, person, 3)
    now = timezone.now()
    undo(campaign, person, Annotation.objects.order_by("-pk")[0])
    answers = recent_answers(campaign=campaign, surrogate_id=person.surrogate_id, now=now, may_open=True)
    assert len(answers) == MOST
    assert [(one.is_taken_back, one.until is None) for one in answers[:2]] == [(True, True), (False, False)]
    later = recent_answers(
        campaign=campaign, surrogate_id=person.surrogate_id, now=now + timedelta(hours=1), may_open=True
    )
    assert {one.until for one in later} == {None}
    client.force_login(person)
    wrong = client.post(reverse("recent", args=[campaign.slug]), {"annotation": answers[1].annotation.pk}, follow=True)
    assert "Submit it before you undo another one" in wrong.content.decode()


def lapse(assignment):
    """Let the time of an assignment pass."""
    Assignment.objects.filter(pk=assignment.pk).update(deadline_at=timezone.now() - timedelta(seconds=1))
    assignments_expire(timezone.now())


def places(campaign):
    """Return what each slot of a campaign is, and how many submissions its people have."""
    tallies = Participation.objects.filter(campaign=campaign).values_list("submitted", flat=True)
    return sorted(Slot.objects.filter(campaign=campaign).values_list("state", flat=True)), sorted(tallies)


def test_an_answer_that_was_opened_again_and_lapses_counts_as_it_was():
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    first = factories.vote(campaign, person, 3)
    before = places(campaign)
    again = factories.label(undo(campaign, person, first).assignment, 1)  # marked, and not submitted
    lapse(again)
    first.refresh_from_db()
    assert (first.state, first.assignment.state) == ("counted", "submitted")
    assert places(campaign) == before
    assert [change.after for change in CountedChange.objects.filter(annotation=first).order_by("pk")][-2:] == [
        "undone",
        "counted",
    ]
    other = factories.annotator(campaign)
    assert factories.claim(campaign, other).item_id != first.item_id  # nobody is asked for it
    assert (
        undo(campaign, person, first).assignment.item_id == first.item_id
    )  # within its time, it can be opened once more


@pytest.mark.parametrize("gone", ["suspended", "retired"])
def test_it_does_not_where_its_author_or_its_item_is_out(gone):
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    first = factories.vote(campaign, person, 3)
    again = undo(campaign, person, first).assignment
    if gone == "suspended":
        Participation.objects.filter(campaign=campaign).update(standing="suspended")
    else:
        item_retire(item=first.item, reason="broken", actor_id=None, now=timezone.now())
    lapse(again)
    first.refresh_from_db()
    assert first.state == "undone"
    assert "held" not in places(campaign)[0]


def test_a_known_answer_comes_back_like_any_other_and_its_check_stays():
    campaign = factories.antique(items=4, n=1, gold=3, policy=FIRST)
    person = factories.annotator(campaign)
    given = [factories.vote(campaign, person, 4) for _ in range(3)]
    gold = next(one for one in given if one.item.batch.purpose == "gold")
    factories.examine(campaign)
    check = GoldCheck.objects.get(annotation=gold)
    lapse(undo(campaign, person, gold).assignment)
    factories.examine(campaign)
    gold.refresh_from_db()
    assert gold.state == "counted"
    assert GoldCheck.objects.get(annotation__item=gold.item).pk == check.pk


def test_what_is_handed_in_after_it_lapsed_is_kept_and_does_not_count():
    campaign = factories.antique(items=2, n=1)
    person = factories.annotator(campaign)
    first = factories.vote(campaign, person, 3)
    again = undo(campaign, person, first).assignment
    lapse(again)
    late = factories.submit(factories.label(again, 1))
    first.refresh_from_db()
    assert (first.state, late.state) == ("counted", "late")
