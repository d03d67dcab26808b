"""Details of the protocol: pages and their tokens, quirks, and what the model refuses."""

from datetime import timedelta

import pytest

from marketplace.services.clockwork import clock_advance
from tests.marketplace.acts import accept, do, refused
from tests.marketplace.conftest import HIT

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_boto3_does_not_check_is_refused_by_the_model(lab):
    c = lab.client
    message = refused("ValidationException", c.create_worker_block, WorkerId="not valid!", Reason="x")
    assert (
        message
        == "1 validation error detected: Value 'not valid!' at 'workerId' failed to satisfy constraint: Member must satisfy regular expression pattern: ^A[A-Z0-9]+$"
    )
    refused("ValidationException", c.get_hit, HITId="3" * 65)
    refused("ValidationException", c.list_hits, MaxResults=101)
    refused("ValidationException", c.create_hit, **HIT | {"Reward": "abc"})
    message = refused(
        "ValidationException", c.list_assignments_for_hit, HITId="3A", AssignmentStatuses=["Bogus", "Approved"]
    )
    assert "'assignmentStatuses.1.member'" in message
    locale = {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "USA"}],
    }
    refused("ValidationException", c.create_hit, **HIT, QualificationRequirements=[locale])


def test_pages_have_a_token_each_and_end_with_an_empty_one(lab, make_worker):
    ids = [lab.hit(MaxAssignments=1)["HITId"] for _ in range(7)]
    pages = list(lab.client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 3}))
    assert [page["NumResults"] for page in pages] == [3, 3, 1, 0]
    assert [hit["HITId"] for page in pages for hit in page["HITs"]] == ids[::-1]
    assert "NextToken" not in pages[-1]
    tokens = [page["NextToken"] for page in pages[:-1]]
    assert len(set(tokens)) == 3
    refused("InvalidParameterValue", lab.client.list_reviewable_hits, NextToken=tokens[0])
    refused("InvalidParameterValue", lab.client.list_hits, NextToken="made up")


def test_without_max_results_ten_come(lab):
    for _ in range(11):
        lab.hit(MaxAssignments=1)
    assert lab.client.list_hits()["NumResults"] == 10


def test_every_paginator_ends(lab, make_worker):
    hit = lab.hit()
    first = do(make_worker("a"), hit)
    kind = lab.client.create_qualification_type(Name="K", Description="K", QualificationTypeStatus="Active")
    type_id = kind["QualificationType"]["QualificationTypeId"]
    lab.client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=first.worker.worker_id)
    given = {
        "list_assignments_for_hit": {"HITId": hit["HITId"]},
        "list_bonus_payments": {"HITId": hit["HITId"]},
        "list_hits_for_qualification_type": {"QualificationTypeId": type_id},
        "list_qualification_types": {"MustBeRequestable": False},
        "list_workers_with_qualification_type": {"QualificationTypeId": type_id},
    }
    for name in PAGINATED:
        assert len(list(lab.client.get_paginator(name).paginate(**given.get(name, {})))) in (1, 2)


def test_a_token_works_again_after_a_day(lab):
    first = lab.hit(UniqueRequestToken="daily", LifetimeInSeconds=31_536_000)["HITId"]
    clock_advance(by=timedelta(hours=23, minutes=59))
    assert first in refused("HitAlreadyExists", lab.client.create_hit, **HIT, UniqueRequestToken="daily")
    clock_advance(by=timedelta(minutes=2))
    assert lab.hit(UniqueRequestToken="daily")["HITId"] != first


def test_quirks_are_switches(lab, settings, worker):
    settings.MARKETPLACE_QUIRKS = settings.MARKETPLACE_QUIRKS | {
        "token_on_every_page": False,
        "unmodifiable_seconds": 5,
        "index_lag_seconds": 5,
        "undecidable_seconds": 5,
    }
    hit = lab.hit()
    assert lab.client.list_hits()["NumResults"] == 0
    refused(
        "InvalidHITState",
        lab.client.create_additional_assignments_for_hit,
        HITId=hit["HITId"],
        NumberOfAdditionalAssignments=1,
    )
    lab.client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)  # expiring is always allowed
    late = lab.hit()
    sent = do(worker, late)
    assert "status of: null" in refused(
        "InvalidAssignmentState", lab.client.approve_assignment, AssignmentId=sent.assignment_id
    )
    clock_advance(by=timedelta(seconds=6))
    lab.client.approve_assignment(AssignmentId=sent.assignment_id)
    assert "NextToken" not in lab.client.list_hits()


def test_an_id_is_used_again_where_the_quirk_says_so(lab, settings, make_worker):
    from tests.marketplace.acts import give_back

    hit = lab.hit(MaxAssignments=1)
    first = accept(make_worker("a"), hit)
    give_back(first)
    assert accept(make_worker("b"), hit).assignment_id != first.assignment_id
    settings.MARKETPLACE_QUIRKS = settings.MARKETPLACE_QUIRKS | {"reuse_assignment_ids": True}
    other = lab.hit(MaxAssignments=1)
    before = accept(make_worker("c"), other)
    give_back(before)
    assert accept(make_worker("d"), other).assignment_id == before.assignment_id


def test_amounts_and_switches_that_make_no_sense_are_refused(lab):
    refused("AWS.ParameterOutOfRange", lab.client.create_hit, **HIT | {"Reward": "9" * 30})
    kind = lab.client.create_hit_type(AssignmentDurationInSeconds=60, Reward="0.01", Title="t", Description="d")[
        "HITTypeId"
    ]
    refused("InvalidParameterValue", lab.client.update_notification_settings, HITTypeId=kind, Active=True)


PAGINATED = [
    "list_assignments_for_hit",
    "list_bonus_payments",
    "list_hits",
    "list_hits_for_qualification_type",
    "list_qualification_requests",
    "list_qualification_types",
    "list_reviewable_hits",
    "list_worker_blocks",
    "list_workers_with_qualification_type",
]
