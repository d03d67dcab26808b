"""Drafts, submissions, exclusion, withdrawal: nothing lost, nothing doubled."""

from datetime import timedelta

import orjson
import pytest
from django.db import Error, connection, transaction
from django.utils import timezone
from isal import igzip

from accounts.identities import user_erase
from accounts.models import AuditEvent, Consent, User
from annotation.campaigns.services.campaigns import NewConsent, NewSplit, campaign_create
from annotation.models import Annotation, Assignment, EventChunk, ItemReport, Slot
from annotation.people.services.withdrawal import annotation_redact, participation_withdraw
from annotation.questions.services import item_report
from annotation.slots.services.claims import Reason
from annotation.slots.services.exclusions import annotation_exclude
from annotation.slots.services.sweeps import assignments_expire
from annotation.tasktypes.base import AnswerError
from annotation.work.services.assignments import AssignmentOver, DraftConflict, NoSuchAssignment, deadline_extend
from annotation.work.services.drafts import draft_save, stage_advance, stage_back
from annotation.work.services.events import Piece, events_store
from annotation.work.services.submissions import assignment_submit
from annotation.work.services.undo import submission_undo
from tests import factories

pytestmark = pytest.mark.django_db


def test_submitting_twice_has_one_effect_and_brings_the_same_next(now):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    assignment = factories.answer(factories.claim(campaign, person))
    first = assignment_submit(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, now=now)
    second = assignment_submit(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, now=now)
    assert first.annotation == second.annotation
    assert first.next.assignment.pk == second.next.assignment.pk
    assert Annotation.objects.count() == 1
    assert campaign.participations.get().submitted == 1


def test_a_late_submission_is_kept_and_marked_and_not_counted(now):
    campaign = factories.campaign(items=1)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    late = factories.claim(campaign, person)
    assignments_expire(late.deadline_at + timedelta(seconds=1))
    counted = factories.annotate(campaign, other)
    kept = factories.submit(factories.answer(late, label="bad"))
    assert (kept.state, kept.slot) == ("late", None)
    assert counted.state == "counted"
    assert Annotation.objects.filter(state="counted").count() == 1
    assert factories.submit(late) == kept


def test_an_answer_never_changes(now):
    campaign = factories.campaign(items=1)
    annotation = factories.annotate(campaign, factories.annotator(campaign))
    with pytest.raises(Error, match="never changes"), transaction.atomic():
        Annotation.objects.filter(pk=annotation.pk).update(answer={"other": True})
    annotation_redact(annotation=annotation, actor_id=annotation.surrogate_id, reason="asked to", now=now)
    assert AuditEvent.objects.filter(action="annotation_redact").exists()


def test_the_audit_trail_cannot_be_changed(now):
    factories.campaign()
    with pytest.raises(Error, match="append-only"), transaction.atomic():
        AuditEvent.objects.update(action="nothing")
    if connection.vendor == "postgresql":  # on SQLite the tests themselves need the rows to go
        with pytest.raises(Error, match="append-only"), transaction.atomic():
            AuditEvent.objects.all()._raw_delete("default")


def test_an_excluded_annotation_reopens_its_slot_at_the_same_rank(now):
    campaign = factories.campaign(n=2, items=1)
    people = [factories.annotator(campaign) for _ in range(3)]
    first = factories.annotate(campaign, people[0])
    factories.annotate(campaign, people[1])
    assert annotation_exclude(annotation=first, because="excluded", actor_id=None, now=now)
    assert not annotation_exclude(annotation=first, because="excluded", actor_id=None, now=now)
    again = factories.annotate(campaign, people[2])
    assert again.slot_id == first.slot_id
    assert Annotation.objects.filter(state="counted").count() == 2


def test_a_second_tab_is_told_and_loses_nothing(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    sent = {"assignment_id": assignment.pk, "surrogate_id": person.surrogate_id}
    stage_advance(**sent, stage="question", sent={"label": "good"}, version=0, now=now)
    with pytest.raises(DraftConflict) as caught:
        stage_advance(**sent, stage="question", sent={"label": "bad"}, version=0, now=now)
    assert caught.value.version == 1
    kept = draft_save(**sent, suggestion={"candidate_index": "1"}, version=1)
    assert kept.draft["question"]["label"] == "good"
    assert kept.draft["suggestion"] == {"long_answer": {"candidate_index": "1"}}


def test_going_back_is_recorded(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.answer(factories.claim(campaign, person), box=0)
    back = stage_back(
        assignment_id=assignment.pk, surrogate_id=person.surrogate_id, version=assignment.draft_version, now=now
    )
    assert [step[0] for step in back.draft["back"]] == ["short_answer"]


def test_someone_elses_assignment_does_not_exist(now):
    campaign = factories.campaign(items=1)
    assignment = factories.claim(campaign, factories.annotator(campaign))
    stranger = factories.annotator(campaign)
    for call in (
        lambda **who: stage_advance(**who, stage="question", sent={"label": "good"}, version=0, now=now),
        lambda **who: assignment_submit(**who, now=now),
        lambda **who: item_report(**who, text="x", now=now),
        lambda **who: deadline_extend(**who, now=now),
        lambda **who: events_store(**who, piece=Piece(1, [[1, "show"]]), now=now),
    ):
        with pytest.raises(NoSuchAssignment):
            call(assignment_id=assignment.pk, surrogate_id=stranger.surrogate_id)


def test_what_is_over_cannot_be_written_to(now):
    campaign = factories.campaign(items=2)
    person = factories.annotator(campaign)
    assignment = factories.answer(factories.claim(campaign, person))
    factories.submit(assignment)
    with pytest.raises(AssignmentOver):
        draft_save(
            assignment_id=assignment.pk,
            surrogate_id=person.surrogate_id,
            suggestion={},
            version=assignment.draft_version,
        )


def test_times_per_stage_are_kept(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    at = assignment.claimed_at
    for stage, sent, seconds in [
        ("question", {"label": "good", "active_seconds": "4.5"}, 5),
        ("long_answer", {"candidate_index": 0, "active_seconds": "999"}, 25),
        ("short_answer", {"kind": "yes", "active_seconds": "x"}, 35),
    ]:
        assignment = stage_advance(
            assignment_id=assignment.pk,
            surrogate_id=person.surrogate_id,
            stage=stage,
            sent=sent,
            version=assignment.draft_version,
            now=at + timedelta(seconds=seconds),
        )
    annotation = factories.submit(assignment)
    assert annotation.stage_seconds == {"question": 5.0, "long_answer": 20.0, "short_answer": 10.0}
    assert annotation.active_seconds == 24.5  # what a browser claims is at most what the clock says


def test_the_click_log_keeps_known_events_once_and_nothing_typed(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    who = {"assignment_id": assignment.pk, "surrogate_id": person.surrogate_id, "now": now}
    events = [[5, "show"], [9, "box_focus", 3], [9, "typed", 3], [9, "key", "secret"], "x", [1.5, "show"], {}]
    assert events_store(piece=Piece(4, events), **who) == 2
    assert events_store(piece=Piece(4, [[7, "hide"]]), **who) == 1
    assert orjson.loads(igzip.decompress(bytes(EventChunk.objects.get().events))) == [
        [5, "show", None],
        [9, "box_focus", 3],
    ]


def test_withdrawing_unlinks_the_work_and_asks_for_it_again(now):
    campaign = factories.campaign(items=2)
    person, other = factories.annotator(campaign), factories.annotator(campaign)
    done = factories.annotate(campaign, person)
    held = factories.claim(campaign, person)
    events_store(assignment_id=held.pk, surrogate_id=person.surrogate_id, piece=Piece(1, [[1, "show"]]), now=now)
    item_report(assignment_id=held.pk, surrogate_id=person.surrogate_id, text="odd", now=now)
    assert participation_withdraw(campaign=campaign, surrogate_id=person.surrogate_id, now=now) == 1
    done.refresh_from_db()
    assert done.state == "withdrawn"
    for model in (Annotation, Assignment, ItemReport):
        assert not model.objects.filter(surrogate=person.surrogate).exists()
    assert not EventChunk.objects.exists()
    assert Slot.objects.filter(state="open").count() == 2
    assert not Consent.objects.filter(surrogate=person.surrogate, withdrawn_at=None).exists()
    assert len({factories.annotate(campaign, other).item_id for _ in range(2)}) == 2


def test_erasing_a_person_leaves_their_work_and_nothing_that_names_them(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    annotation = factories.annotate(campaign, person)
    user_erase(user=person, actor_id=None, now=now)
    assert not User.objects.filter(pk=person.pk).exists()
    annotation.refresh_from_db()
    assert annotation.state == "counted"
    assert annotation.surrogate.erased_at == now


def test_reports_and_more_time(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    item_report(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, text="no page", now=now)
    assert ItemReport.objects.get().text == "no page"
    later = assignment.deadline_at - timedelta(seconds=5)
    assert (
        deadline_extend(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, now=later)
        > assignment.deadline_at
    )


def test_a_report_belongs_to_an_item_in_hand(now):
    campaign = factories.campaign(items=1)
    person = factories.annotator(campaign)
    assignment = factories.claim(campaign, person)
    Assignment.objects.filter(pk=assignment.pk).update(state="released")
    with pytest.raises(AssignmentOver):
        item_report(assignment_id=assignment.pk, surrogate_id=person.surrogate_id, text="odd", now=now)
    assert not ItemReport.objects.exists()


def test_an_answer_that_was_opened_again_is_not_submitted_before_it_is_given_again(now):
    campaign = factories.antique(items=1)
    person = factories.annotator(campaign)
    factories.vote(campaign, person, 3)
    again = submission_undo(campaign=campaign, surrogate_id=person.surrogate_id, now=timezone.now()).assignment
    with pytest.raises(AnswerError, match="Choose a label"):
        assignment_submit(assignment_id=again.pk, surrogate_id=person.surrogate_id, now=now)


def test_no_campaign_takes_the_address_of_a_page():
    with pytest.raises(ValueError, match="is reserved"):
        campaign_create(
            slug="new",
            title="x",
            task_type="nq",
            splits=[NewSplit("dev", 1)],
            consent=NewConsent("a", "b", "c"),
            created_by=None,
            now=timezone.now(),
        )


def test_reason_values_are_what_pages_and_clients_know():
    assert {str(reason) for reason in Reason} == {
        "nothing_open",
        "all_seen",
        "all_held",
        "quota_reached",
        "suspended",
        "paused",
        "consent_needed",
        "training_needed",
    }
