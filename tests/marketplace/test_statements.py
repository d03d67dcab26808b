"""What each operation and each page costs the database: statements, and no more of them where there is more."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from marketplace.api import dispatch
from marketplace.api.operations import OPERATIONS
from marketplace.models import QualificationType
from marketplace.services.qualifications import request_begin
from tests.marketplace.acts import accept, do
from tests.marketplace.test_guards import HOST

pytestmark = pytest.mark.django_db(transaction=True)
FRAME = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")
# Besides reading the key of who asks: the most that an operation takes.
MOST_READING, MOST_WRITING = 5, 20
MOST_OF_A_PAGE = 12


def counted(queries):
    return sum(not query["sql"].lstrip().startswith(FRAME) for query in queries)


@pytest.fixture
def spent(monkeypatch):
    """Return what the operations that were called took, by their names; each is counted where it is served."""
    found = {}
    carry_out = dispatch._carry_out

    def counting(request, requester, operation, request_id):
        with CaptureQueriesContext(connection) as queries:
            answer = carry_out(request, requester, operation, request_id)
        found[operation] = counted(queries)
        return answer

    monkeypatch.setattr(dispatch, "_carry_out", counting)
    return found


class Busy:
    """A requester with more and more of everything."""

    def __init__(self, lab, make_worker):
        self.lab, self.client, self.make_worker = lab, lab.client, make_worker
        self.number = 0

    def kind(self, name):
        made = self.client.create_qualification_type(
            Name=f"{name} {self.number}", Description=name, QualificationTypeStatus="Active"
        )
        return made["QualificationType"]["QualificationTypeId"]

    def request(self, kind, worker):
        row = QualificationType.objects.get(qualification_type_id=kind)
        return str(request_begin(kind=row, worker=worker, now=datetime.now(UTC)).request_id)

    def grow(self, times, kind):
        for _ in range(times):
            self.number += 1
            worker = self.make_worker(f"w{self.number}")
            hit = self.lab.hit(
                Title=f"Port {self.number}",
                MaxAssignments=2,
                QualificationRequirements=[{"QualificationTypeId": kind, "Comparator": "DoesNotExist"}],
            )
            done = do(worker, hit)
            self.client.approve_assignment(AssignmentId=done.assignment_id)
            self.client.send_bonus(
                WorkerId=worker.worker_id,
                BonusAmount="0.01",
                AssignmentId=done.assignment_id,
                Reason="r",
                UniqueRequestToken=f"b{self.number}",
            )
            do(worker, self.lab.hit(MaxAssignments=1))  # reviewable
            self.request(self.kind("asked"), worker)
            self.client.create_worker_block(WorkerId=self.make_worker(f"b{self.number}").worker_id, Reason="Spam.")

    def ask_everything(self, kind):
        """Call every operation of the protocol once."""
        self.number += 1
        c, worker, name = self.client, self.make_worker(f"o{self.number}"), f"n{self.number}"
        # With the same text in the same second, its signature would be one that was used before.
        hit, second = self.lab.hit(MaxAssignments=5, RequesterAnnotation=name), self.make_worker(f"s{self.number}")
        hit_id, done, other = hit["HITId"], do(worker, hit), do(second, hit)
        type_id = c.create_hit_type(AssignmentDurationInSeconds=60, Reward="0.10", Title=name, Description="d")[
            "HITTypeId"
        ]
        c.create_hit_with_hit_type(HITTypeId=type_id, LifetimeInSeconds=60, MaxAssignments=1, Question=hit["Question"])
        notification = {
            "Destination": "https://a.example/",
            "Transport": "SNS",
            "Version": "2014-08-15",
            "EventTypes": ["Ping"],
        }
        c.update_notification_settings(HITTypeId=type_id, Notification=notification, Active=False)
        c.send_test_event_notification(Notification=notification, TestEventType="Ping")
        c.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1, UniqueRequestToken=name)
        for list_of_all in ("hits", "reviewable_hits", "worker_blocks", "qualification_requests"):
            getattr(c, f"list_{list_of_all}")(MaxResults=100)
        c.list_qualification_types(MustBeRequestable=False, MustBeOwnedByCaller=True, MaxResults=100)
        c.list_hits_for_qualification_type(QualificationTypeId=kind, MaxResults=100)
        c.list_assignments_for_hit(HITId=hit_id, MaxResults=100)
        c.list_review_policy_results_for_hit(HITId=hit_id)
        c.get_hit(HITId=hit_id)
        c.get_assignment(AssignmentId=done.assignment_id)
        c.approve_assignment(AssignmentId=done.assignment_id)
        c.reject_assignment(AssignmentId=other.assignment_id, RequesterFeedback="no")
        c.send_bonus(
            WorkerId=worker.worker_id,
            BonusAmount="0.01",
            AssignmentId=done.assignment_id,
            Reason="r",
            UniqueRequestToken=name,
        )
        c.list_bonus_payments(HITId=hit_id, MaxResults=100)
        c.get_account_balance()
        c.update_hit_type_of_hit(HITId=hit_id, HITTypeId=type_id)
        c.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
        c.update_hit_review_status(HITId=hit_id)
        c.delete_hit(HITId=hit_id)
        own = self.kind("own")
        c.update_qualification_type(QualificationTypeId=own, Description="more")
        c.get_qualification_type(QualificationTypeId=own)
        c.associate_qualification_with_worker(QualificationTypeId=own, WorkerId=worker.worker_id, IntegerValue=1)
        c.get_qualification_score(QualificationTypeId=own, WorkerId=worker.worker_id)
        c.list_workers_with_qualification_type(QualificationTypeId=own, MaxResults=100)
        c.disassociate_qualification_from_worker(QualificationTypeId=own, WorkerId=worker.worker_id)
        c.accept_qualification_request(QualificationRequestId=self.request(own, second))
        c.reject_qualification_request(QualificationRequestId=self.request(own, self.make_worker(f"r{self.number}")))
        c.delete_qualification_type(QualificationTypeId=own)
        c.create_worker_block(WorkerId=second.worker_id, Reason="Spam.")
        c.delete_worker_block(WorkerId=second.worker_id)
        c.notify_workers(Subject="s", MessageText="m", WorkerIds=[worker.worker_id])


def test_no_operation_takes_more_statements_where_there_is_more_of_everything(lab, make_worker, spent):
    busy = Busy(lab, make_worker)
    kind = busy.kind("kept")
    busy.grow(2, kind)
    busy.ask_everything(kind)
    few = dict(spent)
    busy.grow(6, kind)
    busy.ask_everything(kind)
    assert spent == few
    assert set(OPERATIONS) - set(few) == {"GetFileUploadURL"}  # answered by a refusal: no question asks for files
    most = {name: MOST_READING if name.startswith(("Get", "List")) else MOST_WRITING for name in few}
    assert {name: took for name, took in few.items() if took > most[name]} == {}


def test_no_page_of_a_worker_takes_more_statements_where_there_is_more_of_everything(lab, make_worker):
    busy, worker, client = Busy(lab, make_worker), make_worker("reader"), Client()
    kind = busy.kind("kept")
    client.force_login(worker)
    found = []
    for times in (2, 6):
        busy.grow(times, kind)
        for _ in range(times):
            do(worker, lab.hit(MaxAssignments=1))
            held = accept(worker, lab.hit(MaxAssignments=1))
        pages = {
            name: reverse(name) for name in ("home", "work-mine", "earnings", "qualifications", "messages", "profile")
        }
        pages["work"] = reverse("work", args=[held.pk])
        pages["requester"] = reverse("requester", args=[lab.requester.customer_id])
        pages["qualification"] = reverse("qualification", args=[kind])
        costs = {}
        for name, path in pages.items():
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path, headers=HOST).status_code == 200, name
            costs[name] = counted(queries)
        found.append(costs)
    few, many = found
    assert many == few
    assert {name: took for name, took in few.items() if took > MOST_OF_A_PAGE} == {}
