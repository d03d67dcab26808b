"""Asking for qualifications: tests, second tries, deadlines, hands of the requester."""

from datetime import timedelta

import pytest

from marketplace.models import Qualification, QualificationRequest, QualificationType, WorkerMessage
from marketplace.protocol.answers import Answer
from marketplace.services.qualifications import RequestRefused, request_begin, request_submit
from tests.marketplace.test_conformance import refused
from tests.marketplace.tests_of_qualifications import ANSWER_KEY, TEST

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
    with pytest.raises(RequestRefused, match="have"):
        request_begin(kind=kind, worker=worker, now=now)
    with pytest.raises(RequestRefused, match="sent"):
        request_submit(request=begun, answers=[], now=now)
    lab.client.disassociate_qualification_from_worker(
        QualificationTypeId=kind.qualification_type_id, WorkerId=worker.worker_id
    )
    with pytest.raises(RequestRefused, match="early") as caught:
        request_begin(kind=kind, worker=worker, now=now + timedelta(minutes=59))
    assert caught.value.until == now + timedelta(hours=1)
    assert request_begin(kind=kind, worker=worker, now=now + timedelta(hours=1))


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
    [{"AnswerKey": ANSWER_KEY}, {"Test": TEST}, {"Test": TEST, "TestDurationInSeconds": 60, "AutoGranted": True}, {"AutoGrantedValue": 3}],
)  # fmt: skip
def test_settings_that_exclude_each_other_are_refused(lab, changes):
    given = {"Name": "Charts", "Description": "d", "QualificationTypeStatus": "Active", **changes}
    refused("InvalidParameterValue", lab.client.create_qualification_type, **given)
    assert not QualificationType.objects.exists()
