"""Attacks on the API: refused with a modelled error, or harmless."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from django.db.models import F

from marketplace.models import Assignment, Hit, LedgerEntry, QualificationRequest, QualificationType, UsedSignature
from marketplace.protocol.service import model, operation_names
from marketplace.services.qualifications import request_begin
from marketplace.services.requesters import keys_rotate
from tests.marketplace.acts import do, refused
from tests.marketplace.conftest import HIT, HTML

pytestmark = pytest.mark.django_db(transaction=True)
HTTP = urllib3.PoolManager()
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def signed(side, url, *, at=None, body=b"{}", target=TARGET, region="us-east-1", service="mturk-requester", extra=None):
    """Return the headers of a request signed as botocore would, at any time."""
    at = at or datetime.now(UTC)
    request = AWSRequest(
        "POST",
        url + "/",
        data=body,
        headers={"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1", **(extra or {})},
    )
    signer = SigV4Auth(Credentials(*side.key), service, region)
    request.context["timestamp"] = request.headers["X-Amz-Date"] = at.strftime("%Y%m%dT%H%M%SZ")
    request.headers["Host"] = url.removeprefix("http://")
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    names = signer.signed_headers(signer.headers_to_sign(request))
    request.headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, SignedHeaders={names}, Signature={signature}"
    )
    return dict(request.headers.items())


def post(url, headers, body=b"{}"):
    answer = HTTP.request("POST", url + "/", headers=headers, body=body, retries=False)
    return answer.status, json.loads(answer.data)


def test_a_good_signature_in_any_region_is_accepted(lab, site):
    assert post(site, signed(lab, site))[0] == 200
    assert post(site, signed(lab, site, region="sandbox"))[0] == 200


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda h: h.pop("Authorization"), "MissingAuthenticationTokenException"),
        (lambda h: h.update(Authorization="Basic abc"), "IncompleteSignatureException"),
        (lambda h: h.update(Authorization=h["Authorization"][:-1] + "x"), "IncompleteSignatureException"),
        (lambda h: h.update(Authorization=h["Authorization"][:-4] + "0000"), "InvalidSignatureException"),
        (
            lambda h: h.update({"X-Amz-Target": TARGET.replace("GetAccountBalance", "ListHITs")}),
            "InvalidSignatureException",
        ),
        (
            lambda h: h.update(Authorization=h["Authorization"].replace("mturk-requester", "s3")),
            "InvalidSignatureException",
        ),
        (
            lambda h: h.update(Authorization=h["Authorization"].replace(";x-amz-target", "")),
            "InvalidSignatureException",
        ),
        (lambda h: h.update({"X-Amz-Date": "yesterday"}), "IncompleteSignatureException"),
        (
            lambda h: h.update(Authorization=re.sub(r"QKIA\w{16}", "QKIA" + "A" * 16, h["Authorization"])),
            "UnrecognizedClientException",
        ),
    ],
)
def test_a_bad_signature_is_refused(lab, site, change, kind):
    headers = signed(lab, site)
    change(headers)
    status, body = post(site, headers)
    assert (status, body["__type"]) == (403, kind)


def test_another_body_or_a_digest_that_lies_is_refused(lab, site):
    assert post(site, signed(lab, site), body=b'{"a":1}')[1]["__type"] == "InvalidSignatureException"
    lying = {"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"}
    assert post(site, signed(lab, site, extra=lying))[1]["__type"] == "InvalidSignatureException"


@pytest.mark.parametrize("minutes", [-6, -60 * 24, 6, 60 * 24])
def test_a_skewed_clock_and_a_replay_outside_the_window_are_refused(lab, site, minutes):
    headers = signed(lab, site, at=datetime.now(UTC) + timedelta(minutes=minutes))
    status, body = post(site, headers)
    assert (status, body["__type"]) == (403, "InvalidSignatureException")
    assert ("not yet current" if minutes > 0 else "expired") in body["Message"]


def test_moving_the_marketplaces_clock_does_not_move_the_window(lab, site):
    from marketplace.services.clockwork import clock_advance

    headers = signed(lab, site)
    clock_advance(by=timedelta(days=30))
    assert post(site, headers)[0] == 200


def test_rotated_keys_stop_working(lab, site, now):
    keys_rotate(requester=lab.requester, now=now)
    assert post(site, signed(lab, site))[1]["__type"] == "UnrecognizedClientException"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "SerializationException"),
        (b"[]", "SerializationException"),
        (b'"a"', "SerializationException"),
        (b'{"MaxResults": NaN}', "SerializationException"),
        (b'{"MaxResults": "3"}', "SerializationException"),
        (b'{"MaxResults": true}', "SerializationException"),
        (b'{"Surplus": 1}', "SerializationException"),
        (b"[" * 100_000, "SerializationException"),
        (b'{"NextToken": "\\u0000"}', "SerializationException"),
        (b'{"NextToken": "\\ud800"}', "SerializationException"),
        (b'{"MaxResults": 99999999999}', "SerializationException"),
        (b"\xff\xfe", "SerializationException"),
        (b'{"NextToken": ""}', "ValidationException"),
        (b'{"MaxResults": 0}', "ValidationException"),
    ],
)
def test_a_body_that_is_no_input_is_refused(lab, site, body, kind):
    headers = signed(lab, site, body=body, target="MTurkRequesterServiceV20170117.ListHITs")
    status, answer = post(site, headers, body)
    assert (status, answer["__type"]) == (400, kind), answer


def test_an_unknown_operation_and_an_oversize_body_are_refused(lab, site):
    for target in ("MTurkRequesterServiceV20170117.RegisterHITType", "Other.GetHIT", "__class__", ""):
        assert post(site, signed(lab, site, target=target))[1]["__type"] == "UnknownOperationException"
    big = b" " * (5 * 2**20)
    assert post(site, signed(lab, site, body=big), big)[1]["__type"] == "SerializationException"


def test_too_many_requests_are_throttled(lab, site, settings):
    settings.MARKETPLACE_API_RATE = 0.5
    kinds = [post(site, signed(lab, site))[1].get("__type") for _ in range(4)]
    assert "ThrottlingException" in kinds


# What another requester has, by the member that names it.
def _foreign(lab, worker):
    hit = lab.hit()
    sent = do(worker, hit)
    type_id = lab.client.create_hit_type(AssignmentDurationInSeconds=60, Reward="0.01", Title="t", Description="d")[
        "HITTypeId"
    ]
    kind = lab.client.create_qualification_type(Name="Q", Description="d", QualificationTypeStatus="Active")
    kind_id = kind["QualificationType"]["QualificationTypeId"]
    row = QualificationType.objects.get()
    QualificationType.objects.update(is_requestable=True)
    asked = request_begin(kind=row, worker=worker, now=datetime.now(UTC))
    QualificationType.objects.update(is_requestable=False)
    return {
        "HITId": hit["HITId"],
        "AssignmentId": sent.assignment_id,
        "HITTypeId": type_id,
        "QualificationTypeId": kind_id,
        "QualificationRequestId": asked.request_id,
        "WorkerId": worker.worker_id,
    }


FILLED = {
    "RequesterFeedback": "x",
    "BonusAmount": "0.01",
    "Reason": "x",
    "NumberOfAdditionalAssignments": 1,
    "ExpireAt": 0,
    "LifetimeInSeconds": 60,
    "Question": HTML,
}


def _naming_operations():
    """Return the operations whose input names something that belongs to a requester."""
    named = {"HITId", "AssignmentId", "HITTypeId", "QualificationTypeId", "QualificationRequestId"}
    for name in operation_names():
        shape = model()["shapes"][model()["operations"][name]["input"]["shape"]]
        for member in sorted(named & set(shape["members"])):
            yield name, member


@pytest.mark.parametrize(("operation", "member"), list(_naming_operations()))
def test_what_belongs_to_another_requester_does_not_exist(lab, make_requester, site, worker, operation, member):
    foreign = _foreign(lab, worker)
    other = make_requester(name="other", url=site)
    shape = model()["shapes"][model()["operations"][operation]["input"]["shape"]]
    given = {name: foreign.get(name, FILLED.get(name)) for name in {member, *shape.get("required", ())}}
    if operation == "UpdateNotificationSettings":
        given["Active"] = True
    if operation == "UpdateHITTypeOfHIT" and member == "HITTypeId":
        given["HITId"] = other.hit()["HITId"]
    if operation == "GetFileUploadURL":
        given["QuestionIdentifier"] = "q"
    before = _everything(), lab.money()
    from botocore import xform_name

    with pytest.raises(ClientError) as caught:
        getattr(other.client, xform_name(operation))(**given)
    answer = caught.value.response
    expected = "InvalidParameterValue" if operation == "GetFileUploadURL" else "DoesNotExist"
    assert answer["TurkErrorCode"].endswith(expected), answer
    unknown = {**given, member: "3" + "X" * 29}
    with pytest.raises(ClientError) as caught:
        getattr(other.client, xform_name(operation))(**unknown)
    told = caught.value.response
    assert told["TurkErrorCode"] == answer["TurkErrorCode"]  # not to be told from what is nowhere
    assert (_everything(), lab.money()) == before


def _everything():
    return (
        list(
            Hit.objects.exclude(requester__name="other")
            .order_by("pk")
            .values("state", "max_assignments", "expires_at", "hit_type")
        ),
        list(Assignment.objects.order_by("pk").values("state", "feedback")),
        list(QualificationRequest.objects.order_by("pk").values("state")),
        LedgerEntry.objects.exclude(requester__name="other").count(),
    )


def test_lists_of_one_requester_are_empty_for_another(lab, make_requester, site, worker):
    _foreign(lab, worker)
    lab.client.create_worker_block(WorkerId=worker.worker_id, Reason="x")
    other = make_requester(name="other", url=site).client
    for answer in (
        other.list_hits(),
        other.list_reviewable_hits(),
        other.list_worker_blocks(),
        other.list_qualification_requests(),
        other.list_qualification_types(MustBeRequestable=False),
    ):
        assert answer["NumResults"] == 0
    assert other.notify_workers(Subject="s", MessageText="t", WorkerIds=[worker.worker_id])[
        "NotifyWorkersFailureStatuses"
    ]


def test_a_long_list_of_errors_and_a_long_query_stay_short(lab, site):
    body = json.dumps({"Subject": "s", "MessageText": "t", "WorkerIds": [""] * 100_000}).encode()
    headers = signed(lab, site, body=body, target="MTurkRequesterServiceV20170117.NotifyWorkers")
    status, answer = post(site, headers, body)
    assert (status, answer["__type"]) == (400, "ValidationException")
    assert len(answer["Message"]) < 5_000
    refused("AWS.ParameterOutOfRange", lab.client.list_qualification_types, MustBeRequestable=False, Query="a " * 150)
    assert lab.client.list_qualification_types(MustBeRequestable=False, Query="a " * 90)["NumResults"] == 0


def test_members_that_are_null_count_as_not_given(lab, site):
    given = {
        **HIT,
        "Keywords": None,
        "QualificationRequirements": [
            {
                "QualificationTypeId": "00000000000000000040",
                "Comparator": "GreaterThan",
                "IntegerValues": [0],
                "LocaleValues": None,
            }
        ],
    }
    body = json.dumps(given).encode()
    headers = signed(lab, site, body=body, target="MTurkRequesterServiceV20170117.CreateHIT")
    status, answer = post(site, headers, body)
    assert status == 200, answer
    (hit,) = lab.client.list_hits()["HITs"]  # walked like every answer: no null in it
    assert "Keywords" not in hit


def test_a_request_that_spends_money_works_once_however_often_it_is_sent(lab, site):
    """Who copies it on the way and sends it again, minutes later: the signature is still good, the money is not."""
    body = json.dumps(HIT).encode()
    target = TARGET.replace("GetAccountBalance", "CreateHIT")
    headers = signed(lab, site, body=body, target=target)
    assert post(site, headers, body=body)[0] == 200
    assert post(site, headers, body=body)[0] == 200  # a script that posts two alike within a second signs both alike
    UsedSignature.objects.update(address="192.0.2.7")
    status, answer = post(site, headers, body=body)  # at once, but from elsewhere
    assert (status, answer["__type"]) == (403, "InvalidSignatureException")
    UsedSignature.objects.update(address="127.0.0.1", used_at=F("used_at") - timedelta(minutes=1))
    status, answer = post(site, headers, body=body)
    assert (status, answer["__type"]) == (403, "InvalidSignatureException")
    assert lab.client.list_hits(MaxResults=10)["NumResults"] == 2
    again = signed(lab, site, body=body, target=target, at=datetime.now(UTC) + timedelta(seconds=1))
    assert post(site, again, body=body)[0] == 200  # signed again it is another request
    reading = signed(lab, site)
    assert [post(site, reading)[0] for _ in range(3)] == [200] * 3  # reading may be repeated


def test_a_hit_that_was_ended_is_not_opened_again_by_a_request_from_before(lab, site):
    hit = lab.hit()
    body = json.dumps({"HITId": hit["HITId"], "ExpireAt": int(datetime.now(UTC).timestamp()) + 3000}).encode()
    headers = signed(lab, site, body=body, target=TARGET.replace("GetAccountBalance", "UpdateExpirationForHIT"))
    assert post(site, headers, body=body)[0] == 200
    lab.client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    held = lab.money()["held"]
    UsedSignature.objects.update(used_at=F("used_at") - timedelta(seconds=15))
    assert post(site, headers, body=body)[1]["__type"] == "InvalidSignatureException"
    assert lab.money()["held"] == held


def test_a_token_alone_decides_about_a_request_that_has_one(lab, site):
    body = json.dumps({**HIT, "UniqueRequestToken": "one"}).encode()
    headers = signed(lab, site, body=body, target=TARGET.replace("GetAccountBalance", "CreateHIT"))
    assert post(site, headers, body=body)[0] == 200
    UsedSignature.objects.update(used_at=F("used_at") - timedelta(minutes=1))
    status, answer = post(site, headers, body=body)
    assert (status, answer["__type"], "already exists" in answer["Message"]) == (400, "RequestError", True)
