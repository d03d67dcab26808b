"""Asking for qualifications: tests, second tries, deadlines, hands of the requester."""

from datetime import timedelta

import pytest

from marketplace.models import Qualification, QualificationRequest, QualificationType, WorkerMessage
from marketplace.protocol.answers import Answer
from marketplace.services.assignments import WorkRefused
from marketplace.services.qualifications import RequestRefused, request_begin, request_submit
from tests.marketplace.acts import accept, refused
from tests.marketplace.conftest import HIT
from tests.marketplace.quiz import ANSWER_KEY, TEST

pytestmark = pytest.mark.django_db(transaction=True)


def kind_of(lab, **changes):
    given = {"Name": "Charts", "Description": "d", "QualificationTypeStatus": "Active", **changes}
    type_id = lab.client.create_qualification_type(**given)["QualificationType"]["QualificationTypeId"]
    return QualificationType.objects.get(qualification_type_id=type_id)


def test_a_scored_test_grants_once_and_again_only_after_the_delay(lab, worker, now):
    kind = kind_of(lab, Test=TEST, AnswerKey=ANSWER_KEY, TestDurationInSeconds=600, RetryDelayInSeconds=3600)
    begun = request_begin(kind=kind, worker=worker, now=now)
    assert request_begin(kind=kind, worker=worker, now=now + timedelta(seconds=5)).pk == begun.pk
    assert lab.client.list_qualification_requests()["NumResults"] == 0
    sent = request_submit(request=begun, answers=[Answer("depth", selections=("boats",))], now=now)
    assert sent.state == "Granted"
    assert Qualification.objects.get().value == 0
    with pytest.raises(RequestRefused, match="sent"):
        request_submit(request=begun, answers=[], now=now)
    with pytest.raises(RequestRefused, match="early") as caught:
        request_begin(kind=kind, worker=worker, now=now + timedelta(minutes=59))
    assert caught.value.until == now + timedelta(hours=1)
    again = request_begin(kind=kind, worker=worker, now=now + timedelta(hours=1))
    right = [Answer("depth", selections=("water",)), Answer("signs", selections=("buoy", "light"))]
    request_submit(request=again, answers=right, now=now + timedelta(hours=1))
    assert Qualification.objects.get().value == 100


def test_a_test_that_is_late_counts_as_the_only_try(lab, worker, now):
    kind = kind_of(lab, Test=TEST, AnswerKey=ANSWER_KEY, TestDurationInSeconds=60)
    begun = request_begin(kind=kind, worker=worker, now=now)
    with pytest.raises(RequestRefused, match="late"):
        request_submit(request=begun, answers=[], now=now + timedelta(seconds=60))
    with pytest.raises(RequestRefused, match="once"):
        request_begin(kind=kind, worker=worker, now=now + timedelta(days=1))
    assert not Qualification.objects.exists()


def test_a_test_without_a_key_is_for_the_requester_to_read(lab, worker, now):
    kind = kind_of(lab, Test=TEST, TestDurationInSeconds=60)
    begun = request_begin(kind=kind, worker=worker, now=now)
    request_submit(request=begun, answers=[Answer("why", text="From the legend.")], now=now)
    (asked,) = lab.client.list_qualification_requests()["QualificationRequests"]
    assert "From the legend." in asked["Answer"]
    assert asked["Test"] == TEST
    lab.client.accept_qualification_request(QualificationRequestId=asked["QualificationRequestId"], IntegerValue=61)
    assert Qualification.objects.get().value == 61
    assert WorkerMessage.objects.get().worker == worker


def test_a_deleted_type_ends_what_was_open_and_frees_its_name(lab, worker, now):
    kind = kind_of(lab)
    request_begin(kind=kind, worker=worker, now=now)
    lab.client.delete_qualification_type(QualificationTypeId=kind.qualification_type_id)
    assert QualificationRequest.objects.get().state == "Rejected"
    with pytest.raises(RequestRefused, match="inactive"):
        request_begin(kind=kind, worker=worker, now=now)
    kind_of(lab)


@pytest.mark.parametrize(
    "changes",
    [
        {"AnswerKey": ANSWER_KEY},
        {"Test": TEST},
        {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True},
        {"AutoGrantedValue": 3},
    ],
)
def test_settings_that_exclude_each_other_are_refused(lab, changes):
    given = {"Name": "Charts", "Description": "d", "QualificationTypeStatus": "Active", **changes}
    refused("InvalidParameterValue", lab.client.create_qualification_type, **given)
    assert not QualificationType.objects.exists()


def test_without_a_test_who_has_it_cannot_ask_again(lab, worker, now):
    kind = kind_of(lab, AutoGranted=True, RetryDelayInSeconds=0)
    assert request_begin(kind=kind, worker=worker, now=now).state == "Granted"
    with pytest.raises(RequestRefused, match="have"):
        request_begin(kind=kind, worker=worker, now=now)


def test_a_deleted_type_still_counts_for_those_who_hold_it(lab, make_worker):
    kind = kind_of(lab)
    holder, other = make_worker("a"), make_worker("b")
    lab.client.associate_qualification_with_worker(
        QualificationTypeId=kind.qualification_type_id, WorkerId=holder.worker_id
    )
    needs, excludes = (
        lab.hit(
            QualificationRequirements=[{"QualificationTypeId": kind.qualification_type_id, "Comparator": comparator}]
        )
        for comparator in ("Exists", "DoesNotExist")
    )
    lab.client.delete_qualification_type(QualificationTypeId=kind.qualification_type_id)
    assert accept(holder, needs)
    with pytest.raises(WorkRefused, match="unqualified"):
        accept(holder, excludes)
    assert accept(other, excludes)


def test_a_grant_by_hand_leaves_what_the_worker_asked_for_open(lab, worker, now):
    kind = kind_of(lab, Test=TEST, TestDurationInSeconds=60)
    begun = request_begin(kind=kind, worker=worker, now=now)
    lab.client.associate_qualification_with_worker(
        QualificationTypeId=kind.qualification_type_id, WorkerId=worker.worker_id
    )
    assert request_submit(request=begun, answers=[Answer("why", text="x")], now=now).state == "Pending"
    assert lab.client.list_qualification_requests()["NumResults"] == 1


def test_an_update_brings_a_test_and_its_key_together_and_ends_automatic_grants(lab, worker, now):
    kind = kind_of(lab, Test=TEST, AnswerKey=ANSWER_KEY, TestDurationInSeconds=60)
    begun = request_begin(kind=kind, worker=worker, now=now)
    update = lab.client.update_qualification_type
    changed = update(QualificationTypeId=kind.qualification_type_id, Test=TEST, TestDurationInSeconds=90)[
        "QualificationType"
    ]
    assert "AnswerKey" not in changed
    sent = request_submit(request=begun, answers=[Answer("depth", selections=("water",))], now=now)
    assert sent.state == "Granted"  # by the key that was there when it was begun
    auto = kind_of(lab, Name="Auto")
    assert (
        update(QualificationTypeId=auto.qualification_type_id, AutoGranted=True)["QualificationType"][
            "AutoGrantedValue"
        ]
        == 1
    )
    off = update(QualificationTypeId=auto.qualification_type_id, AutoGranted=False)["QualificationType"]
    assert (off["AutoGranted"], "AutoGrantedValue" in off) == (False, False)
    update(QualificationTypeId=auto.qualification_type_id, AutoGranted=True)
    assert (
        update(QualificationTypeId=auto.qualification_type_id, Test=TEST, TestDurationInSeconds=9)["QualificationType"][
            "AutoGranted"
        ]
        is False
    )


def test_an_inactive_type_cannot_be_asked_for_in_a_hit(lab):
    kind = kind_of(lab)
    lab.client.update_qualification_type(
        QualificationTypeId=kind.qualification_type_id, QualificationTypeStatus="Inactive"
    )
    needs = [{"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists"}]
    refused("InvalidQualificationTypeState", lab.client.create_hit, **HIT, QualificationRequirements=needs)


@pytest.mark.parametrize(
    "change", [("<AnswerScore>3<", "<AnswerScore>99999999999<"), ("<MaximumSummedScore>4<", "<MaximumSummedScore>0<")]
)
def test_scores_out_of_range_are_refused_when_the_type_is_made(lab, change):
    given = {
        "Name": "C",
        "Description": "d",
        "QualificationTypeStatus": "Active",
        "Test": TEST,
        "TestDurationInSeconds": 60,
    }
    refused("XMLParseError", lab.client.create_qualification_type, **given, AnswerKey=ANSWER_KEY.replace(*change))
    few = TEST.replace("<MaxSelectionCount>2<", "<MaxSelectionCount>3<")
    refused("XMLParseError", lab.client.create_qualification_type, **given | {"Test": few})


@pytest.mark.parametrize("content", ["<p><b aa><b ab>", "<p>" * 13 + "</p>" * 13, "<!DOCTYPE a><p/>", "&nbsp;"])
def test_formatted_content_that_is_not_plain_xhtml_is_refused(lab, content):
    test = TEST.replace("<p>Take <b>your</b> time.<script>alert(1)</script></p>", content)
    given = {"Name": "C", "Description": "d", "QualificationTypeStatus": "Active", "TestDurationInSeconds": 60}
    refused("XMLParseError", lab.client.create_qualification_type, **given, Test=test)


def test_a_worker_hears_of_a_type_once_a_day_however_often_it_is_granted(lab, worker):
    kind = kind_of(lab)
    for value in range(5):
        lab.client.associate_qualification_with_worker(
            QualificationTypeId=kind.qualification_type_id, WorkerId=worker.worker_id, IntegerValue=value
        )
    assert WorkerMessage.objects.count() == 1
