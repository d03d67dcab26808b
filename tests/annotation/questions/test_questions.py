"""Questions of annotators: answered to them once they handed the item in, published to all, never about a known answer."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent, Role
from annotation.models import FaqEntry, ItemReport
from annotation.questions.selectors import own_questions
from annotation.questions.services import QuestionError, question_answer
from quality.gold.services.pilot_keys import _answered
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked():
    """A campaign, an annotator who has an item in hand and asked about it, and their and a manager's client."""
    campaign = factories.antique(items=3)
    person, manager = factories.annotator(campaign), factories.user()
    factories.join(campaign, manager, Role.MANAGER)
    annotator, boss = Client(), Client()
    annotator.force_login(person)
    boss.force_login(manager)
    assignment = factories.claim(campaign, person)
    annotator.post(f"/assignments/{assignment.pk}/report/", {"text": "Does a link count as an answer?"})
    return campaign, assignment, annotator, boss


def answer(campaign, boss, **sent):
    report = ItemReport.objects.get()
    return boss.post(f"/campaigns/{campaign.slug}/questions/{report.pk}/", sent, follow=True).content.decode()


def test_a_question_waits_at_home_and_is_answered(asked):
    campaign, assignment, annotator, boss = asked
    assert "<strong>1</strong> question or report" in boss.get("/").content.decode()
    page = boss.get(f"/campaigns/{campaign.slug}/questions/").content.decode()
    assert "Does a link count as an answer?" in page
    assert assignment.surrogate_id.hex not in page.replace("-", "")
    assert "The question is closed." in answer(campaign, boss, answer="Only with its text.")
    assert "No open questions." in boss.get(f"/campaigns/{campaign.slug}/questions/").content.decode()
    assert "This question has already been answered or closed" in answer(campaign, boss, answer="Twice.")
    report = ItemReport.objects.get()
    assert (report.answer, report.resolved_at is None) == ("Only with its text.", False)
    assert AuditEvent.objects.filter(action="question_answer").count() == 1


def test_an_answer_is_read_once_the_item_was_handed_in(asked):
    campaign, assignment, annotator, boss = asked
    answer(campaign, boss, answer="Only with its text.")
    own = f"/work/{campaign.slug}/questions/"
    assert "Only with its text." not in annotator.get(own).content.decode()
    assert "was answered" not in annotator.get("/").content.decode()
    factories.submit(factories.label(assignment, 3))
    assert "Your question was answered." in annotator.get("/").content.decode()
    assert "1 reply to your question" in annotator.get(f"/work/{campaign.slug}/").content.decode()
    assert "Only with its text." in annotator.get(own).content.decode()
    assert "was answered" not in annotator.get("/").content.decode()  # it was read


def test_no_answer_is_read_while_the_item_is_in_hand_again(asked):
    campaign, assignment, annotator, boss = asked
    own = f"/work/{campaign.slug}/questions/"
    factories.submit(factories.label(assignment, 1))
    annotator.post(f"/work/{campaign.slug}/undo/")  # before the manager answers
    answer(campaign, boss, answer="Choose label 3.")
    assert "Choose label 3." not in annotator.get(own).content.decode()
    assert "was answered" not in annotator.get("/").content.decode()
    again = factories.claim(campaign, factories.User.objects.get(surrogate=assignment.surrogate_id))
    assert again.item_id == assignment.item_id
    factories.submit(factories.label(again, 1))
    assert "Reopen" in annotator.get(f"/work/{campaign.slug}/recent/").content.decode()
    assert "Choose label 3." in annotator.get(own).content.decode()
    assert annotator.post(f"/work/{campaign.slug}/undo/").status_code == 409  # who has read it answers no more
    assert "Reopen" not in annotator.get(f"/work/{campaign.slug}/recent/").content.decode()


def test_nobody_reads_what_another_asked(asked):
    campaign, assignment, _annotator, boss = asked
    factories.submit(factories.label(assignment, 3))
    answer(campaign, boss, answer="Only with its text.")
    other = factories.annotator(campaign)
    assert own_questions(campaign, other.surrogate_id) == []
    client = Client()
    client.force_login(other)
    assert "Only with its text." not in client.get(f"/work/{campaign.slug}/questions/").content.decode()


def test_an_answer_that_is_published_stands_beside_the_guidelines_until_it_is_taken_away(asked):
    campaign, _assignment, _annotator, boss = asked
    page = answer(campaign, boss, answer="No, never.", publish="on")
    assert "Enter the question to publish" in page
    assert "No, never.</textarea>" in page and 'type="checkbox" checked' in page  # what was written is not lost
    answer(campaign, boss, answer="Only with its text.", publish="on", question="Do bare links count?")
    client = Client()
    client.force_login(factories.annotator(campaign))
    for path in ("guidelines", "questions"):
        page = client.get(f"/work/{campaign.slug}/{path}/").content.decode()
        assert "Do bare links count?" in page
        assert "Does a link count as an answer?" not in page
    entry = FaqEntry.objects.get()
    boss.post(f"/campaigns/{campaign.slug}/questions/faq/{entry.pk}/retire/")
    assert "Do bare links count?" not in client.get(f"/work/{campaign.slug}/guidelines/").content.decode()


def test_a_question_is_settled_without_an_answer(asked):
    campaign, assignment, annotator, boss = asked
    factories.submit(factories.label(assignment, 3))
    assert "Write an answer, or close the question" in answer(campaign, boss, answer=" ")
    answer(campaign, boss, answer="Not sent.", settle="1", publish="on", question="Not published.")
    assert ItemReport.objects.get().answer == ""
    assert not FaqEntry.objects.exists()
    assert "Closed. Thank you" in annotator.get(f"/work/{campaign.slug}/questions/").content.decode()


def test_a_manager_publishes_a_question_of_their_own(asked):
    campaign, _assignment, _annotator, boss = asked
    address = f"/campaigns/{campaign.slug}/questions/"
    page = boss.post(address, {"question": "How long?", "answer": " "}, follow=True).content.decode()
    assert "Enter both the question and the answer" in page
    boss.post(address, {"question": "How long?", "answer": "As long as you need."})
    assert FaqEntry.objects.get().item is None


def test_what_is_said_about_a_known_answer_reaches_nobody_else():
    campaign = factories.antique(items=2, gold=1)
    person = factories.annotator(campaign)
    [gold] = campaign.items.filter(batch__purpose="gold")
    report = ItemReport.objects.create(item=gold, surrogate=person.surrogate, text="?", created_at=timezone.now())
    with pytest.raises(QuestionError, match="gold question"):
        question_answer(report=report, answer="Yes.", faq="Is it?", actor_id=person.surrogate_id, now=timezone.now())
    report.refresh_from_db()
    assert report.resolved_at is None  # nothing is half done
    manager, client = factories.user(), Client()
    factories.join(campaign, manager, Role.MANAGER)
    client.force_login(manager)
    page = client.get(f"/campaigns/{campaign.slug}/questions/").content.decode()
    assert "Only this annotator will see your reply" in page
    assert f'id="publish-{report.pk}"' not in page


def test_a_pilot_item_that_everybody_can_read_about_becomes_no_key():
    campaign = factories.antique(items=1, n=1)
    person = factories.annotator(campaign)
    [item] = campaign.items.all()
    type(item.batch).objects.filter(pk=item.batch_id).update(purpose="pilot")
    factories.vote(campaign, person, 3)
    assert list(_answered(campaign)) == [item]
    FaqEntry.objects.create(campaign=campaign, item=item, question="?", answer="!", published_at=timezone.now())
    assert list(_answered(campaign)) == []


def test_the_fourth_question_about_an_item_is_told_that_it_is_not_kept(client):
    campaign = factories.antique(items=1, n=1)
    person = factories.annotator(campaign)
    client.force_login(person)
    address = reverse("report", args=[factories.claim(campaign, person).pk])
    said = [
        client.post(address, {"text": f"Question {number}?"}, headers={"HX-Request": "true"}) for number in range(4)
    ]
    assert [page.status_code for page in said] == [200, 200, 200, 409]
    assert "several messages about this item" in said[3].content.decode()
    assert ItemReport.objects.count() == 3
