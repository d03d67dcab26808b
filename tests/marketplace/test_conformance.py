"""Every operation, driven by the unmodified boto3 over real HTTP; every raw answer walked against its shape."""

from datetime import UTC, datetime, timedelta

import pytest

from marketplace.protocol.service import model
from marketplace.services.qualifications import request_begin
from marketplace.services.requesters import layout_save
from tests.marketplace.acts import do, refused
from tests.marketplace.conftest import HIT, HTML, external
from tests.marketplace.quiz import ANSWER_KEY, TEST

pytestmark = pytest.mark.django_db(transaction=True)

FIRST_TIER = """CreateHITType CreateHIT CreateHITWithHITType GetHIT ListHITs ListReviewableHITs UpdateHITReviewStatus
UpdateExpirationForHIT CreateAdditionalAssignmentsForHIT DeleteHIT ListAssignmentsForHIT GetAssignment ApproveAssignment
RejectAssignment SendBonus ListBonusPayments GetAccountBalance CreateQualificationType ListQualificationTypes
GetQualificationType AssociateQualificationWithWorker DisassociateQualificationFromWorker GetQualificationScore
ListWorkersWithQualificationType CreateWorkerBlock DeleteWorkerBlock ListWorkerBlocks NotifyWorkers
UpdateNotificationSettings SendTestEventNotification""".split()
# Nothing here has a locale but the worker's profile, which is no Qualification.
NEVER_EMITTED = {("Qualification", "LocaleValue")}
CODES = {
    "AWS.MissingParameters",
    "AWS.ParameterOutOfRange",
    *(
        f"AWS.MechanicalTurk.{code}"
        for code in (
            "HitAlreadyExists",
            "RequestAlreadyExists",
            "InvalidMaximumAssignmentsIncrease",
            "InvalidHITState",
            "InvalidAssignmentState",
            "InvalidQualificationState",
            "InvalidQualificationTypeState",
            "InvalidQualificationRequestState",
            "HITDoesNotExist",
            "HITTypeDoesNotExist",
            "AssignmentDoesNotExist",
            "QualificationDoesNotExist",
            "QualificationRequestDoesNotExist",
            "QualificationTypeDoesNotExist",
            "QualificationTypeAlreadyExists",
            "XMLParseError",
            "XHTMLParseError",
            "InvalidTransportEndpoint",
            "InvalidParameterValue",
            "InsufficientFunds",
        )
    ),
}
NOTIFY = {
    "Destination": "http://127.0.0.1:9/notes",
    "Transport": "SNS",
    "Version": "2014-08-15",
    "EventTypes": ["AssignmentSubmitted", "HITReviewable"],
}
POLICY = {
    "PolicyName": "ScoreMyKnownAnswers/2011-09-01",
    "Parameters": [
        {"Key": "AnswerKey", "MapEntries": [{"Key": "port", "Values": ["Trieste"]}]},
        {"Key": "ApproveIfKnownAnswerScoreIsAtLeast", "Values": ["100"]},
        {"Key": "ApproveReason", "Values": ["Right."]},
        {"Key": "RejectIfKnownAnswerScoreIsLessThan", "Values": ["1"]},
        {"Key": "RejectReason", "Values": ["Not the port."]},
        {"Key": "ExtendIfKnownAnswerScoreIsLessThan", "Values": ["1"]},
        {"Key": "ExtendMaximumAssignments", "Values": ["2"]},
        {"Key": "ExtendMinimumTimeInSeconds", "Values": ["3600"]},
    ],
}


def test_every_operation_conforms(lab, make_worker, make_requester, site):
    ann, bob = make_worker("ann", country="DE", subdivision="BE"), make_worker("bob")
    _hits(lab, ann)
    _decisions(lab, ann, bob)
    _bonuses(lab, ann, bob)
    _qualifications(lab, ann, bob)
    _workers(lab, ann, bob)
    _notifications(lab)
    _review_policies(lab, ann, bob)
    _limits(lab, make_requester(name="poor", deposit="0.10", url=site))
    refused("InvalidParameterValue", lab.client.get_file_upload_url, AssignmentId="3A", QuestionIdentifier="q")
    _gate(lab.coverage)


def _gate(coverage):
    """Everything was called; everything the first tier can say was said; every rule refused something."""
    operations = model()["operations"]
    assert set(operations) - coverage.operations == {"GetFileUploadURL"}  # always refused
    wanted = set()
    for name in FIRST_TIER:
        wanted |= _members(operations[name]["output"]["shape"])
    assert wanted - coverage.members == NEVER_EMITTED
    assert CODES - coverage.codes == set()


def _members(name):
    shape = model()["shapes"][name]
    if shape["type"] == "list":
        return _members(shape["member"]["shape"])
    if shape["type"] != "structure":
        return set()
    found = {(name, member) for member in shape["members"]}
    return found.union(*(_members(member["shape"]) for member in shape["members"].values()))


def _hits(lab, ann):
    c = lab.client
    locale = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "In",
        "LocaleValues": [{"Country": "US", "Subdivision": "CA"}, {"Country": "DE"}],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    approved = {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan", "IntegerValues": [97]}
    values = {name: HIT[name] for name in ("AssignmentDurationInSeconds", "Reward", "Title", "Description")}
    values |= {"Keywords": "reading, ports", "QualificationRequirements": [locale, approved]}
    type_id = c.create_hit_type(**values)["HITTypeId"]
    assert c.create_hit_type(**values)["HITTypeId"] == type_id
    hit = c.create_hit_with_hit_type(
        HITTypeId=type_id,
        LifetimeInSeconds=60,
        MaxAssignments=2,
        Question=external(),
        RequesterAnnotation="batch 1",
        UniqueRequestToken="t1",
    )["HIT"]
    assert hit["QualificationRequirements"][1] == {**approved, "ActionsGuarded": "Accept", "RequiredToPreview": False}
    assert c.get_hit(HITId=hit["HITId"])["HIT"] == hit
    message = refused("HitAlreadyExists", c.create_hit, **HIT, UniqueRequestToken="t1")
    assert hit["HITId"] in message
    layout = layout_save(requester=lab.requester, name="line", html="<p>${line}</p>")
    made = c.create_hit(
        **{name: value for name, value in HIT.items() if name != "Question"},
        HITLayoutId=layout.layout_id,
        HITLayoutParameters=[{"Name": "line", "Value": "a < b"}],
    )["HIT"]
    assert made["HITLayoutId"] == layout.layout_id
    assert "a &amp;lt; b" in made["Question"]  # escaped for the page, and the page for the XML
    assert {row["HITId"] for row in c.list_hits()["HITs"]} == {hit["HITId"], made["HITId"]}
    refused("InvalidHITState", c.delete_hit, HITId=hit["HITId"])
    c.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=2, UniqueRequestToken="x")
    refused(
        "RequestAlreadyExists",
        c.create_additional_assignments_for_hit,
        HITId=hit["HITId"],
        NumberOfAdditionalAssignments=2,
        UniqueRequestToken="x",
    )
    refused(
        "InvalidMaximumAssignmentsIncrease",
        c.create_additional_assignments_for_hit,
        HITId=hit["HITId"],
        NumberOfAdditionalAssignments=6,
    )
    c.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=datetime.now(UTC) + timedelta(hours=2))
    c.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    assert c.list_reviewable_hits(HITTypeId=type_id)["HITs"][0]["HITId"] == hit["HITId"]
    c.update_hit_review_status(HITId=hit["HITId"])
    assert c.list_reviewable_hits(Status="Reviewing")["NumResults"] == 1
    c.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    refused("InvalidHITState", c.update_hit_review_status, HITId=hit["HITId"], Revert=True)
    other = c.create_hit_type(**values | {"Title": "Another title"})["HITTypeId"]
    c.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=other)
    assert c.get_hit(HITId=hit["HITId"])["HIT"]["Title"] == "Another title"
    c.delete_hit(HITId=hit["HITId"])
    assert "currently in the state 'Disposed'" in refused("InvalidHITState", c.delete_hit, HITId=hit["HITId"])
    refused("HITDoesNotExist", c.get_hit, HITId="3NOTHING")
    refused("HITTypeDoesNotExist", c.update_hit_type_of_hit, HITId=made["HITId"], HITTypeId="3NOTHING")
    c.update_expiration_for_hit(HITId=made["HITId"], ExpireAt=0)
    c.delete_hit(HITId=made["HITId"])


def _decisions(lab, ann, bob):
    c = lab.client
    hit = lab.hit()
    first, second = do(ann, hit), do(bob, hit)
    listed = c.list_assignments_for_hit(HITId=hit["HITId"], AssignmentStatuses=["Submitted"])
    assert [row["WorkerId"] for row in listed["Assignments"]] == [ann.worker_id, bob.worker_id]
    c.approve_assignment(AssignmentId=first.assignment_id, RequesterFeedback="Thank you.")
    c.reject_assignment(AssignmentId=second.assignment_id, RequesterFeedback="Empty.")
    assert "status of: Submitted" in refused(
        "InvalidAssignmentState", c.approve_assignment, AssignmentId=first.assignment_id
    )
    refused("InvalidAssignmentState", c.approve_assignment, AssignmentId=second.assignment_id)
    got = c.get_assignment(AssignmentId=second.assignment_id)
    assert (got["Assignment"]["AssignmentStatus"], got["Assignment"]["RequesterFeedback"]) == ("Rejected", "Empty.")
    c.approve_assignment(AssignmentId=second.assignment_id, OverrideRejection=True)
    refused("AssignmentDoesNotExist", c.get_assignment, AssignmentId="3NOTHING")
    assert c.get_hit(HITId=hit["HITId"])["HIT"]["NumberOfAssignmentsCompleted"] == 2
    lab.first, lab.second, lab.hit_id = first, second, hit["HITId"]


def _bonuses(lab, ann, bob):
    c = lab.client
    bonus = {
        "WorkerId": ann.worker_id,
        "BonusAmount": "0.55",
        "AssignmentId": lab.first.assignment_id,
        "Reason": "Fast.",
    }
    c.send_bonus(**bonus, UniqueRequestToken="b1")
    refused("RequestAlreadyExists", c.send_bonus, **bonus, UniqueRequestToken="b1")
    refused("InvalidParameterValue", c.send_bonus, **bonus | {"WorkerId": bob.worker_id})
    assert c.list_bonus_payments(HITId=lab.hit_id)["BonusPayments"][0]["BonusAmount"] == "0.55"
    assert c.list_bonus_payments(AssignmentId=lab.second.assignment_id)["NumResults"] == 0
    refused("AWS.MissingParameters", c.list_bonus_payments)
    balance = c.get_account_balance()
    money = lab.money()
    assert balance["AvailableBalance"] == f"{money['available']:.2f}"
    assert balance["OnHoldBalance"] == f"{money['held']:.2f}"


def _qualifications(lab, ann, bob):
    c = lab.client
    kind = c.create_qualification_type(
        Name="Reads maps",
        Description="Can read a sea chart.",
        Keywords="maps",
        QualificationTypeStatus="Active",
        Test=TEST,
        AnswerKey=ANSWER_KEY,
        TestDurationInSeconds=600,
        RetryDelayInSeconds=60,
    )["QualificationType"]
    refused(
        "QualificationTypeAlreadyExists",
        c.create_qualification_type,
        Name="Reads maps",
        Description="x",
        QualificationTypeStatus="Active",
    )
    auto = c.create_qualification_type(
        Name="Joined",
        Description="Everybody who asks.",
        QualificationTypeStatus="Active",
        AutoGranted=True,
        AutoGrantedValue=7,
    )["QualificationType"]
    plain = c.create_qualification_type(Name="By hand", Description="We decide.", QualificationTypeStatus="Active")
    plain_id = plain["QualificationType"]["QualificationTypeId"]
    from marketplace.models import QualificationType

    def row(type_id):
        return QualificationType.objects.get(qualification_type_id=type_id)

    at = datetime.now(UTC)
    request_begin(kind=row(auto["QualificationTypeId"]), worker=bob, now=at)
    assert (
        c.get_qualification_score(QualificationTypeId=auto["QualificationTypeId"], WorkerId=bob.worker_id)[
            "Qualification"
        ]["IntegerValue"]
        == 7
    )
    for who in (ann, bob):
        request_begin(kind=row(plain_id), worker=who, now=at)
    asked = c.list_qualification_requests(QualificationTypeId=plain_id)["QualificationRequests"]
    c.accept_qualification_request(QualificationRequestId=asked[0]["QualificationRequestId"], IntegerValue=80)
    c.reject_qualification_request(QualificationRequestId=asked[1]["QualificationRequestId"], Reason="Not yet.")
    refused(
        "InvalidQualificationRequestState",
        c.accept_qualification_request,
        QualificationRequestId=asked[1]["QualificationRequestId"],
    )
    refused("QualificationRequestDoesNotExist", c.accept_qualification_request, QualificationRequestId="3NOTHING")
    type_id = kind["QualificationTypeId"]
    c.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=ann.worker_id, IntegerValue=90)
    assert c.list_workers_with_qualification_type(QualificationTypeId=type_id)["NumResults"] == 1
    refused("QualificationDoesNotExist", c.get_qualification_score, QualificationTypeId=type_id, WorkerId=bob.worker_id)
    c.disassociate_qualification_from_worker(QualificationTypeId=type_id, WorkerId=ann.worker_id, Reason="Expired.")
    refused("InvalidQualificationState", c.get_qualification_score, QualificationTypeId=type_id, WorkerId=ann.worker_id)
    assert c.list_workers_with_qualification_type(QualificationTypeId=type_id, Status="Revoked")["NumResults"] == 1
    assert c.get_qualification_type(QualificationTypeId=type_id)["QualificationType"] == kind
    found = c.list_qualification_types(MustBeRequestable=True, MustBeOwnedByCaller=True, Query="chart")
    assert [one["Name"] for one in found["QualificationTypes"]] == ["Reads maps"]
    hit = lab.hit(QualificationRequirements=[{"QualificationTypeId": type_id, "Comparator": "Exists"}])
    listed = c.list_hits_for_qualification_type(QualificationTypeId=type_id)
    assert [one["HITId"] for one in listed["HITs"]] == [hit["HITId"]]
    c.update_qualification_type(QualificationTypeId=plain_id, Description="Closed.", QualificationTypeStatus="Inactive")
    refused(
        "InvalidQualificationTypeState",
        c.associate_qualification_with_worker,
        QualificationTypeId=plain_id,
        WorkerId=ann.worker_id,
    )
    c.delete_qualification_type(QualificationTypeId=plain_id)
    refused("QualificationTypeDoesNotExist", c.get_qualification_type, QualificationTypeId=plain_id)
    refused(
        "XMLParseError",
        c.create_qualification_type,
        Name="T",
        Description="x",
        QualificationTypeStatus="Active",
        Test="<x/>",
        TestDurationInSeconds=9,
    )


def _workers(lab, ann, bob):
    c = lab.client
    c.create_worker_block(WorkerId=bob.worker_id, Reason="Spam.")
    assert c.list_worker_blocks()["WorkerBlocks"] == [{"WorkerId": bob.worker_id, "Reason": "Spam."}]
    c.delete_worker_block(WorkerId=bob.worker_id, Reason="A mistake.")
    assert c.list_worker_blocks()["NumResults"] == 0
    refused("ParameterValidationError", c.create_worker_block, WorkerId="A143XRCI1YXAFE", Reason="x")
    stranger = "A9STRANGER"
    answer = c.notify_workers(Subject="New HITs", MessageText="There are more.", WorkerIds=[ann.worker_id, stranger])
    assert [(row["WorkerId"], row["NotifyWorkersFailureCode"]) for row in answer["NotifyWorkersFailureStatuses"]] == [
        (stranger, "HardFailure")
    ]
    assert ann.messages_received.filter(subject="New HITs").count() == 1


def _notifications(lab):
    c = lab.client
    type_id = c.create_hit_type(AssignmentDurationInSeconds=60, Reward="0.01", Title="N", Description="N")["HITTypeId"]
    c.update_notification_settings(HITTypeId=type_id, Notification=NOTIFY, Active=True)
    c.update_notification_settings(HITTypeId=type_id, Active=False)
    c.send_test_event_notification(Notification=NOTIFY, TestEventType="Ping")
    refused("AWS.MissingParameters", c.update_notification_settings, HITTypeId=type_id)
    for destination in ("ftp://a.example/", "http://a.example/", "not a url", "https://u:p@a.example/"):
        refused(
            "InvalidTransportEndpoint",
            c.send_test_event_notification,
            Notification=NOTIFY | {"Destination": destination},
            TestEventType="Ping",
        )


def _review_policies(lab, ann, bob):
    c = lab.client
    hit = lab.hit(AssignmentReviewPolicy=POLICY, MaxAssignments=1, LifetimeInSeconds=60)
    wrong = do(ann, hit, port="Genoa")
    assert c.get_assignment(AssignmentId=wrong.assignment_id)["Assignment"]["AssignmentStatus"] == "Rejected"
    right = do(bob, hit, port="Trieste")  # the policy has asked for one more
    assert c.get_assignment(AssignmentId=right.assignment_id)["Assignment"]["AssignmentStatus"] == "Approved"
    found = c.list_review_policy_results_for_hit(HITId=hit["HITId"], MaxResults=100)
    actions = [row["ActionName"] for row in found["AssignmentReviewReport"]["ReviewActions"]]
    assert actions == ["extend", "reject", "approve"]
    scores = [
        row["Value"] for row in found["AssignmentReviewReport"]["ReviewResults"] if row["Key"] == "KnownAnswerScore"
    ]
    assert scores == ["0", "100"]
    assert found["AssignmentReviewPolicy"] == POLICY
    plurality = {"PolicyName": "SimplePlurality/2011-09-01"}
    refused("InvalidParameterValue", c.create_hit, **HIT, HITReviewPolicy=plurality)


def _limits(lab, poor):
    c = lab.client
    refused("AWS.MissingParameters", c.create_hit, **{name: value for name, value in HIT.items() if name != "Question"})
    refused("AWS.ParameterOutOfRange", c.create_hit, **HIT | {"LifetimeInSeconds": 29})
    refused("AWS.ParameterOutOfRange", c.create_hit, **HIT | {"Title": "x" * 129})
    refused("XMLParseError", c.create_hit, **HIT | {"Question": "<a"})
    empty = HTML.replace(HTML[HTML.index("<![CDATA[") : HTML.index("]]>") + 3], " ")
    refused("XHTMLParseError", c.create_hit, **HIT | {"Question": empty})
    before = poor.money()
    assert "insufficient funds" in refused("InsufficientFunds", poor.client.create_hit, **HIT)
    assert poor.money() == before
    assert poor.client.list_hits()["NumResults"] == 0
    lab.coverage.codes |= poor.coverage.codes
