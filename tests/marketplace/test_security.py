"""Attacks on the API and on the frames: refused with a modelled error, or harmless."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from django.conf import settings as django_settings
from django.test import Client

from marketplace.models import Assignment, Hit, LedgerEntry, QualificationRequest, QualificationType
from marketplace.protocol import questions
from marketplace.protocol.errors import RequestError
from marketplace.protocol.service import model, operation_names
from marketplace.services.assignments import WorkRefused, submit_secret
from marketplace.services.qualifications import request_begin
from marketplace.services.requesters import keys_rotate
from tests.marketplace.acts import accept, do, give_back, submit
from tests.marketplace.conftest import HIT, HTML, external
from tests.marketplace.test_conformance import refused

pytestmark = pytest.mark.django_db(transaction=True)
HTTP = urllib3.PoolManager()
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"


def signed(side, url, *, at=None, body=b"{}", target=TARGET, region="us-east-1", service="mturk-requester", extra=None):
    """Return the headers of a request signed as botocore would, at any time."""
    at = at or datetime.now(UTC)
    request = AWSRequest("POST", url + "/", data=body, headers={"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1", **(extra or {})})  # fmt: skip
    signer = SigV4Auth(Credentials(*side.key), service, region)
    request.context["timestamp"] = request.headers["X-Amz-Date"] = at.strftime("%Y%m%dT%H%M%SZ")
    request.headers["Host"] = url.removeprefix("http://")
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    names = signer.signed_headers(signer.headers_to_sign(request))
    request.headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={signer.scope(request)}, SignedHeaders={names}, Signature={signature}"  # fmt: skip
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
        (lambda h: h.update({"X-Amz-Target": TARGET.replace("GetAccountBalance", "ListHITs")}), "InvalidSignatureException"),
        (lambda h: h.update(Authorization=h["Authorization"].replace("mturk-requester", "s3")), "InvalidSignatureException"),
        (lambda h: h.update(Authorization=h["Authorization"].replace(";x-amz-target", "")), "InvalidSignatureException"),
        (lambda h: h.update({"X-Amz-Date": "yesterday"}), "IncompleteSignatureException"),
        (lambda h: h.update(Authorization=re.sub(r"QKIA\w{16}", "QKIA" + "A" * 16, h["Authorization"])), "UnrecognizedClientException"),
    ],
)  # fmt: skip
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
        "HITId": hit["HITId"], "AssignmentId": sent.assignment_id, "HITTypeId": type_id, "QualificationTypeId": kind_id,
        "QualificationRequestId": asked.request_id, "WorkerId": worker.worker_id,
    }  # fmt: skip


FILLED = {
    "RequesterFeedback": "x", "BonusAmount": "0.01", "Reason": "x", "NumberOfAdditionalAssignments": 1, "ExpireAt": 0,
    "LifetimeInSeconds": 60, "Question": HTML,
}  # fmt: skip


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
        list(Hit.objects.exclude(requester__name="other").order_by("pk").values("state", "max_assignments", "expires_at", "hit_type")),
        list(Assignment.objects.order_by("pk").values("state", "feedback")),
        list(QualificationRequest.objects.order_by("pk").values("state")),
        LedgerEntry.objects.exclude(requester__name="other").count(),
    )  # fmt: skip


def test_lists_of_one_requester_are_empty_for_another(lab, make_requester, site, worker):
    _foreign(lab, worker)
    lab.client.create_worker_block(WorkerId=worker.worker_id, Reason="x")
    other = make_requester(name="other", url=site).client
    for answer in (other.list_hits(), other.list_reviewable_hits(), other.list_worker_blocks(), other.list_qualification_requests(), other.list_qualification_types(MustBeRequestable=False)):  # fmt: skip
        assert answer["NumResults"] == 0
    assert other.notify_workers(Subject="s", MessageText="t", WorkerIds=[worker.worker_id])[
        "NotifyWorkersFailureStatuses"
    ]


BOMB = '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;&l;&l;&l;&l;">]><a>&m;</a>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize("text", [BOMB, OUTSIDE, '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>', "<a>&x;</a>", '<?xml version="1.0" encoding="bogus"?><a/>'])  # fmt: skip
def test_xml_that_brings_entities_or_document_types_is_refused(lab, text):
    message = refused("XMLParseError", lab.client.create_hit, **HIT | {"Question": text})
    assert "root:" not in message


def test_a_question_over_the_limit_is_refused_and_one_at_it_is_not(lab):
    room = 65_535 - len(HTML.encode())
    lab.hit(Question=HTML.replace("Ports", "Ports" + "x" * room))
    refused(
        "InvalidParameterValue",
        lab.client.create_hit,
        **HIT | {"Question": HTML.replace("Ports", "Ports" + "x" * (room + 1))},
    )


@pytest.mark.parametrize(
    "url",
    ["http://tasks.example/", "javascript:alert(1)", "//tasks.example/", "https://", "https://u:p@tasks.example/", "ftp://tasks.example/",
     "https://tasks.example/a b", "https://tasks.example/;script-src *", "https://work.example/profile/", "https://WORK.example/", "https://[::1"],
)  # fmt: skip
def test_an_external_url_that_is_not_safe_is_refused(url):
    with pytest.raises(RequestError):
        questions.parse_question(external(url.replace("&", "&amp;")), own_hosts=frozenset({"work.example"}))


def test_loopback_may_be_http():
    for url in ("http://127.0.0.1:8000/", "http://localhost/", "http://platform.localhost:1/x", "http://[::1]:80/"):
        assert questions.parse_question(external(url)).content == url


def frame_of(client, assignment):
    page = client.get(f"/work/{assignment.pk}/", headers={"host": "worker.localhost"}).content.decode()
    from html import unescape

    return unescape(re.search(r'<iframe[^>]* src="([^"]+)"', page)[1]), re.search(r'sandbox="([^"]+)"', page)[1]


def test_the_content_of_an_html_question_is_boxed_in(lab, worker):
    script = HTML.replace("<form>", "<script>fetch('/profile/')</script><form>")
    assignment = accept(worker, lab.hit(Question=script))
    client = Client()
    client.force_login(worker)
    url, sandbox = frame_of(client, assignment)
    assert url.startswith("http://content.localhost:")
    assert "allow-same-origin" not in sandbox
    assert "allow-top-navigation" not in sandbox
    path = "/" + url.split("/", 3)[3]
    answer = Client().get(path, headers={"host": "content.localhost"})
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert policy.startswith("sandbox ")
    assert "allow-same-origin" not in policy
    assert "frame-ancestors http://worker.localhost:" in policy
    assert not answer.cookies
    assert "Set-Cookie" not in answer
    assert Client().get(path, headers={"host": "worker.localhost"}).status_code == 404
    for address in ("/", "/profile/", "/account/login/", "/healthz", "/static/css/base.css"):
        assert Client().get(address, headers={"host": "content.localhost"}).status_code == 404
    assert Client().get("/content/forged/", headers={"host": "content.localhost"}).status_code == 404


def test_an_external_frame_keeps_its_own_origin_only(lab, worker):
    assignment = accept(worker, lab.hit(Question=external()))
    client = Client()
    client.force_login(worker)
    url, sandbox = frame_of(client, assignment)
    assert "allow-same-origin" in sandbox
    assert "allow-top-navigation" not in sandbox
    secret = submit_secret(assignment)
    submit_to = django_settings.MARKETPLACE_URL.replace(":", "%3A").replace("/", "%2F") + f"%2Fs%2F{secret}"
    assert url == (
        f"https://tasks.example/task?campaign=1&x=2&assignmentId={assignment.assignment_id}&hitId={assignment.hit.hit_id}"
        f"&turkSubmitTo={submit_to}&workerId={worker.worker_id}"
    )
    page = client.get(f"/work/{assignment.pk}/", headers={"host": "worker.localhost"})
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-src https: https://tasks.example" in page["Content-Security-Policy"]


def test_a_preview_names_nobody_makes_no_row_and_takes_no_form(lab, worker):
    hit = lab.hit(Question=external())
    client = Client()
    client.force_login(worker)
    page = client.get(f"/hits/{hit['HITId']}/", headers={"host": "worker.localhost"}).content.decode()
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in page
    assert "workerId" not in page
    assert worker.worker_id not in re.search(r"<iframe[^>]+>", page)[0]
    assert not Assignment.objects.exists()
    sent = Client().post("/s/preview/mturk/externalSubmit", {"assignmentId": "x"}, headers={"host": "worker.localhost"})
    assert sent.status_code == 403
    assert not Assignment.objects.exists()


def test_a_former_holder_cannot_submit(lab, make_worker, settings):
    settings.MARKETPLACE_QUIRKS = settings.MARKETPLACE_QUIRKS | {"reuse_assignment_ids": True}
    hit = lab.hit(MaxAssignments=1)
    former = accept(make_worker("a"), hit)
    give_back(former)
    holder = accept(make_worker("b"), hit)
    assert holder.assignment_id == former.assignment_id
    client = Client()
    answer = client.post(f"/s/{submit_secret(former)}/mturk/externalSubmit", {"assignmentId": holder.assignment_id, "a": "1"}, headers={"host": "worker.localhost"})  # fmt: skip
    assert answer.status_code == 409
    holder.refresh_from_db()
    assert holder.state == "Accepted"
    submit(holder)


@pytest.mark.parametrize("secret", ["1~forged", "1", "~", "abc", "1~" + "A" * 43, "%00"])
def test_a_forged_submit_path_is_refused(lab, worker, secret):
    accept(worker, lab.hit())
    answer = Client().post(f"/s/{secret}/mturk/externalSubmit", {"a": "1"}, headers={"host": "worker.localhost"})
    assert answer.status_code == 403
    assert Assignment.objects.get().state == "Accepted"


def test_turk_submit_to_and_the_reserved_names_mean_nothing_to_the_form(lab, worker):
    assignment = accept(worker, lab.hit())
    form = {
        "turkSubmitTo": "https://evil.example/",
        "hitId": "3X",
        "workerId": "AX",
        "assignmentId": "3OTHER",
        "port": ["a", "b"],
        "n": "<&>\x0b",
    }
    answer = Client().post(
        f"/s/{submit_secret(assignment)}/mturk/externalSubmit", form, headers={"host": "worker.localhost"}
    )
    assert answer.status_code == 200
    assert "Location" not in answer
    assert b"evil" not in answer.content
    stored = Assignment.objects.get().answer
    assert "evil" not in stored
    assert re.findall(r"<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)</FreeText>", stored) == [("port", "a|b"), ("n", "&lt;&amp;&gt;")]  # fmt: skip


def test_answers_that_are_too_long_are_refused_and_nothing_is_lost(lab, worker):
    assignment = accept(worker, lab.hit())
    with pytest.raises(WorkRefused, match="too_long"):
        submit(assignment, text="x" * 1_000_001)
    assert Assignment.objects.get().state == "Accepted"


def test_a_submission_is_a_form_post_and_nothing_else(lab, worker):
    path = f"/s/{submit_secret(accept(worker, lab.hit()))}/mturk/externalSubmit"
    host = {"host": "worker.localhost"}
    assert Client().get(path, headers=host).status_code == 405
    assert Client().post(path, b"{}", content_type="application/json", headers=host).status_code == 415
    assert Assignment.objects.get().state == "Accepted"


def test_a_signed_frame_can_be_verified_and_not_forged(lab, worker):
    import hashlib
    import hmac
    from urllib.parse import parse_qs, urlsplit

    from marketplace.services.requesters import frame_secret

    lab.requester.signs_frames = True
    lab.requester.save(update_fields=["signs_frames"])
    client = Client()
    client.force_login(worker)
    url, _ = frame_of(client, accept(worker, lab.hit(Question=external())))
    given = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    message = "\n".join(given[name] for name in ("hitId", "assignmentId", "workerId", "quorateExpires"))
    expected = hmac.new(frame_secret(lab.requester).encode(), message.encode(), hashlib.sha256).hexdigest()
    assert given["quorateSignature"] == expected


def test_blocked_and_unqualified_workers_cannot_accept(lab, make_worker):
    blocked, stranger, new = (
        make_worker("a", country="DE"),
        make_worker("b", country="US"),
        make_worker("c", country="DE"),
    )
    hit = lab.hit(QualificationRequirements=[{"QualificationTypeId": "00000000000000000071", "Comparator": "EqualTo", "LocaleValues": [{"Country": "DE"}]}])  # fmt: skip
    lab.client.create_worker_block(WorkerId=blocked.worker_id, Reason="x")
    for who, reason in ((blocked, "blocked"), (stranger, "unqualified")):
        with pytest.raises(WorkRefused, match=reason):
            accept(who, hit)
    assert accept(new, hit)


def test_records_are_counted_from_real_decisions(lab, make_worker):
    worker = make_worker("w", prior_approved=97, prior_rejected=2)
    needs = [
        {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan", "IntegerValues": [97]},
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [98]},
    ]
    hit = lab.hit(QualificationRequirements=needs)
    with pytest.raises(WorkRefused, match="unqualified"):
        accept(worker, hit)
    sent = do(worker, lab.hit())
    lab.client.approve_assignment(AssignmentId=sent.assignment_id)  # 98 of 100
    assert accept(worker, hit)


def test_where_masters_are_asked_for_the_requester_is_told(lab):
    needs = [{"QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "Comparator": "Exists"}]
    assert "no Masters" in refused(
        "InvalidParameterValue", lab.client.create_hit, **HIT, QualificationRequirements=needs
    )


def test_the_secret_of_a_key_is_in_no_table(lab):
    from django.apps import apps

    for table in apps.get_app_config("marketplace").get_models():
        for row in table.objects.values():
            assert lab.key[1] not in str(row)
