"""One suite for every seat at the desk: an account's, and a visitor's."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from isal import igzip

from annotation.campaigns.services.campaigns import guideline_publish
from annotation.models import Annotation, AnnotationState, Assignment, AssignmentState, EventChunk, Participation
from annotation.slots.services.sweeps import assignments_expire
from tests import factories
from tests.workforces.acts import by_link
from tests.workforces.link.panel import come, link
from workforces.models import TicketWork

pytestmark = pytest.mark.django_db
SCRIPT = {"Accept": "application/json"}


class Member:
    """Someone with an account."""

    begins_by_post = True

    def __init__(self, campaign=None, **options):
        self.campaign = campaign or factories.antique(items=4, **options)
        person, self.client = factories.user(), Client()
        factories.join(self.campaign, person)
        self.client.force_login(person)
        self.home = f"/work/{self.campaign.slug}/"
        page = self.client.get(f"{self.home}consent/").content.decode()
        self.client.post(f"{self.home}consent/", {"text": re.search(r'name="text" value="(\d+)"', page)[1]})

    def open(self):
        return self.client.post(self.home, follow=True).content.decode()

    def consent_is_asked(self):
        return "I agree" in self.open()

    def are_answers_whole(self):
        return not TicketWork.objects.exists()


class Visitor(Member):
    """Someone sent by a panel that signs its addresses."""

    begins_by_post = False

    def __init__(self, campaign=None, **options):
        self.campaign = campaign or factories.antique(items=4, **options)
        row = link(self.campaign, items_per_ticket=4)
        self.client, page = come(by_link(row, "p1", "s1"))
        self.home = page.redirect_chain[-1][0] if page.redirect_chain else page.request["PATH_INFO"]

    def open(self):
        return self.client.get(self.home).content.decode()

    def are_answers_whole(self):
        return TicketWork.objects.count() == Annotation.objects.count()


@pytest.fixture(params=[Member, Visitor])
def door(request):
    return request.param


def form(page, action):
    """Return the address and the version of an action on the item that a page shows."""
    address = re.search(rf'action="([^"]*/{action}/)"', page)[1]
    assignment = re.search(r'data-assignment="([^"]*)"', page)
    return address, assignment and Assignment.objects.get(pk=assignment[1])


def answer(seat, page, label=4, **sent):
    address, assignment = form(page, "(?:stage|answer)")
    fields = {"stage": "relevance", "label": str(label), "version": assignment.draft_version, **sent}
    return seat.client.post(address, fields, follow=True)


def draft_of(page):
    return re.search(r'data-draft-url="([^"]*)"', page)[1]


def test_an_answer_brings_the_next_item_and_sent_again_has_one_effect(door):
    seat = door()
    page = seat.open()
    _, first = form(page, "(?:stage|answer)")
    following = answer(seat, page).content.decode()
    again = answer(seat, page, version=0)
    assert again.status_code == 200
    assert Annotation.objects.count() == 1
    assert seat.are_answers_whole()
    assert form(following, "(?:stage|answer)")[1].item_id != first.item_id
    assert 'data-assignment="' in seat.open()


def test_an_answer_that_is_none_changes_nothing(door):
    seat = door()
    page = seat.open()
    refused = answer(seat, page, label=9)
    assert refused.status_code == 422
    assert "The label must be 1, 2, 3, or 4" in refused.content.decode()
    assert not Annotation.objects.exists()
    assert Assignment.objects.get().state == AssignmentState.LIVE


def test_a_draft_is_kept_once_and_a_stale_one_is_told_the_version(door):
    seat = door(factories.campaign(items=2))
    page = seat.open()
    page = answer(seat, page, "good", stage="question").content.decode() or seat.open()
    page = seat.client.get(seat.home).content.decode()
    assert 'name="candidate_index"' in page
    version = form(page, "back")[1].draft_version
    sent = {"stage": "long_answer", "version": version, "candidate_index": "0"}
    kept = seat.client.post(draft_of(page), sent, headers=SCRIPT)
    assert kept.json() == {"version": version, "remarks": []}
    assert Assignment.objects.get().draft["suggestion"]["long_answer"]["candidate_index"] == "0"
    stale = seat.client.post(draft_of(page), {**sent, "version": version - 1}, headers=SCRIPT)
    assert (stale.status_code, stale.json()["version"]) == (409, version)
    refused = answer(seat, page, stage="long_answer", version=version - 1, candidate_index="0")
    assert refused.status_code == 409
    assert "in another tab" in refused.content.decode()
    page = seat.client.post(form(page, "back")[0], {"version": version}, follow=True).content.decode()
    assert 'name="label"' in page
    assert not Annotation.objects.exists()


def test_the_assignment_of_somebody_else_does_not_exist(door):
    seat = door()
    page = seat.open()
    other = factories.claim(seat.campaign, factories.annotator(seat.campaign))
    own = re.search(r'data-assignment="([^"]*)"', page)[1]
    for action in ("(?:stage|answer)", "skip"):
        address = form(page, action)[0].replace(own, str(other.pk))
        sent = {"stage": "relevance", "label": "4", "version": other.draft_version, "reason": "other"}
        assert seat.client.post(address, sent).status_code == 404
    assert seat.client.post(draft_of(page).replace(own, str(other.pk)), {}, headers=SCRIPT).status_code == 404
    events = re.search(r'data-events-url="([^"]*)"', page)[1].replace(own, str(other.pk))
    assert seat.client.post(events, {"sequence": 0, "events": "[]"}).status_code == 404
    other.refresh_from_db()
    assert (other.state, other.draft, EventChunk.objects.count()) == (AssignmentState.LIVE, {}, 0)


def test_an_item_is_given_back_for_a_reason(door):
    seat = door()
    page = seat.open()
    address, assignment = form(page, "skip")
    assert seat.client.post(address, {"reason": "bored"}).status_code == 422
    following = seat.client.post(address, {"reason": "offensive", "note": "rude"}, follow=True).content.decode()
    assignment.refresh_from_db()
    assert (assignment.state, assignment.skip_reason, assignment.skip_note) == ("skipped", "offensive", "rude")
    assert form(following or seat.open(), "skip")[1].item_id != assignment.item_id


def test_the_click_log_is_stored_and_what_is_malformed_is_dropped(door):
    seat = door()
    address = re.search(r'data-events-url="([^"]*)"', seat.open())[1]
    for sent in ({"sequence": 0, "events": "{"}, {"sequence": -1, "events": "[]"}, {"events": "[]"}):
        assert seat.client.post(address, sent).status_code == 204
    assert not EventChunk.objects.exists()
    sent = {"sequence": 0, "events": json.dumps([[1, "show"]])}
    assert seat.client.post(address, sent).status_code == 204
    assert EventChunk.objects.count() == 1


def test_a_piece_of_the_click_log_comes_with_the_answer_once_and_stays_if_the_answer_is_refused(door):
    seat = door()
    page = seat.open()
    _, assignment = form(page, "(?:stage|answer)")

    def pieces():
        kept = EventChunk.objects.filter(assignment=assignment).order_by("sequence")
        return [(one.sequence, json.loads(igzip.decompress(bytes(one.events)))) for one in kept]

    assert answer(seat, page, 9, sequence="3", events='[[1, "show"]]').status_code == 422
    assert pieces() == [(3, [[1, "show", None]])]
    for _ in range(2):  # the second is the same form sent again
        answer(seat, page, 4, sequence="5", events='[[7, "answer", 4], [8, "typed"]]')
    assert pieces() == [(3, [[1, "show", None]]), (5, [[7, "answer", 4]])]
    assert Annotation.objects.get().assignment_id == assignment.pk


@pytest.mark.parametrize("events", ["{", "[", '"x"', "[[1]]", "1" * 5000, "[" * 100_000])
def test_no_answer_is_refused_for_its_click_log(door, events):
    seat = door()
    answer(seat, seat.open(), sequence="0", events=events)
    assert Annotation.objects.count() == 1
    assert not EventChunk.objects.exists()


def test_a_change_of_the_guidelines_comes_before_the_item_once(door):
    seat = door()
    seat.open()
    guideline_publish(campaign=seat.campaign, body="Another text.", note="Why.", actor_id=None, now=timezone.now())
    page = seat.client.get(seat.home).content.decode()
    assert "The guidelines have changed" in page
    assert "data-stage" not in page
    address = re.search(r'action="([^"]*/guidelines/(?:read/)?)"', page)[1]
    version = re.search(r'name="version" value="(\d+)"', page)[1]
    assert 'data-stage="relevance"' in seat.client.post(address, {"version": version}, follow=True).content.decode()
    assert "The guidelines have changed" not in seat.client.get(seat.home).content.decode()


def test_a_new_consent_text_comes_before_anything_is_recorded(door):
    seat = door()
    page = seat.open()
    factories.consent_text(seat.campaign)
    refused = seat.client.post(draft_of(page), {"stage": "relevance", "version": 0}, headers=SCRIPT)
    assert refused.status_code == 403
    assert "The consent text has changed" in refused.json()["error"]
    answer(seat, page)
    assert not Annotation.objects.exists()
    assert "I agree" in seat.client.get(seat.home, follow=True).content.decode()


def test_work_that_comes_too_late_is_kept_and_marked(door):
    seat = door()
    page = seat.open()
    assignments_expire(timezone.now() + timedelta(days=1))
    answer(seat, page)
    assert Annotation.objects.get().state == AnnotationState.LATE
    assert seat.are_answers_whole()


def test_a_finished_draft_is_submitted_once(door):
    seat = door()
    page = seat.open()
    _, assignment = form(page, "(?:stage|answer)")
    factories.label(assignment, 3)
    address = form(page, "skip")[0].replace("/skip/", "/submit/")
    for _ in range(2):
        assert seat.client.post(address, follow=True).status_code == 200
    assert Annotation.objects.get().answer["label"] == 3
    assert seat.are_answers_whole()


def test_the_training_round_leads_from_the_introduction_to_the_first_item(door):
    seat = door(has_training=True)
    page = seat.client.get(seat.home, follow=True).content.decode()
    if door.begins_by_post:
        page = seat.open()
    assert "short examples with feedback" in page
    page = seat.client.get(f"{seat.home}{'training/' if door.begins_by_post else ''}?begin").content.decode()
    while 'name="number"' in page:
        address = re.search(r'action="([^"]*/(?:training|learn)/)"', page)[1]
        number = re.search(r'name="number" value="(\d+)"', page)[1]
        feedback = seat.client.post(address, {"number": number, "label": "4"}).content.decode()
        assert "Correct: label 4" in feedback or "Expected answer" in feedback
        following = re.search(r'href="([^"]*\?begin)"', feedback)
        page = seat.client.get(following[1]).content.decode() if following else seat.open()
    assert Participation.objects.get(campaign=seat.campaign).trained_at is not None
    assert 'data-stage="relevance"' in page


def test_pages_of_the_desk_are_the_same_but_for_the_seat(door):
    seat = door()
    page = seat.open()
    assert 'data-open="guidelines"' in page
    assert '<dialog id="help"' in page
    assert '<dialog id="skip"' in page
