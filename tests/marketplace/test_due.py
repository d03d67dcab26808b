"""What time alone does, at the moment it was due."""

from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.models import Assignment, Delivery, Hit, LedgerEntry
from marketplace.services.clockwork import clock_advance, clock_freeze
from marketplace.services.sweep import sweep
from tests.marketplace.acts import accept, do, give_back, refused, submit
from tests.marketplace.conftest import HIT

pytestmark = pytest.mark.django_db(transaction=True)


def row(side, hit):
    got = side.client.get_hit(HITId=hit["HITId"])["HIT"]
    return (
        got["HITStatus"],
        got["NumberOfAssignmentsAvailable"],
        got["NumberOfAssignmentsPending"],
        got["NumberOfAssignmentsCompleted"],
    )


def test_a_deadline_frees_the_place_and_the_late_form_is_refused(lab, make_worker):
    hit = lab.hit(MaxAssignments=1)
    late = accept(make_worker("late"), hit)
    assert row(lab, hit) == ("Unassignable", 0, 1, 0)
    clock_advance(by=timedelta(seconds=601))
    assert row(lab, hit) == ("Assignable", 1, 0, 0)
    from marketplace.services.assignments import WorkRefused

    with pytest.raises(WorkRefused, match="abandoned"):
        submit(late, clock.now())
    stored = Assignment.objects.get()
    assert (stored.state, stored.ended_at) == ("Abandoned", stored.deadline_at)
    assert do(make_worker("next"), hit, clock.now()).slot == 0


def test_undecided_work_is_approved_and_paid_at_its_time(lab, worker):
    sent = do(worker, lab.hit(AutoApprovalDelayInSeconds=3600, MaxAssignments=1))
    clock_advance(by=timedelta(hours=5))
    got = lab.client.get_assignment(AssignmentId=sent.assignment_id)["Assignment"]
    assert got["AssignmentStatus"] == "Approved"
    assert got["ApprovalTime"] == got["AutoApprovalTime"]
    assert {pot: str(value) for pot, value in lab.money().items()} == {
        "deposited": "100.00",
        "available": "99.88",
        "held": "0.00",
        "paid": "0.10",
        "fees": "0.02",
    }
    refused("InvalidAssignmentState", lab.client.approve_assignment, AssignmentId=sent.assignment_id)
    refused(
        "InvalidAssignmentState",
        lab.client.reject_assignment,
        AssignmentId=sent.assignment_id,
        RequesterFeedback="late",
    )


def test_a_delay_of_nothing_approves_at_once(lab, worker):
    assert do(worker, lab.hit(AutoApprovalDelayInSeconds=0)).state == "Approved"


def test_expiry_refunds_open_places_and_keeps_what_is_in_work(lab, make_worker):
    hit = lab.hit()
    held = accept(make_worker("a"), hit)
    clock_advance(by=timedelta(seconds=3601 - 600))
    other = accept(make_worker("b"), hit, held.accepted_at + timedelta(seconds=3500))
    clock_advance(by=timedelta(seconds=600))
    assert row(lab, hit) == ("Unassignable", 2, 1, 0)
    assert str(lab.money()["held"]) == "0.12"
    submit(other, held.accepted_at + timedelta(seconds=3700))
    assert row(lab, hit) == ("Reviewable", 2, 0, 0)


def test_a_place_given_back_after_expiry_is_refunded(lab, worker):
    hit = lab.hit(MaxAssignments=1)
    mine = accept(worker, hit)
    lab.client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    assert str(lab.money()["held"]) == "0.12"
    give_back(mine)
    assert str(lab.money()["held"]) == "0.00"
    assert row(lab, hit)[0] == "Reviewable"


def test_a_rejected_place_stays_taken_and_one_more_replaces_it(lab, make_worker):
    hit = lab.hit(MaxAssignments=1)
    sent = do(make_worker("a"), hit)
    lab.client.reject_assignment(AssignmentId=sent.assignment_id, RequesterFeedback="")
    assert row(lab, hit) == ("Reviewable", 0, 0, 1)
    assert str(lab.money()["available"]) == "100.00"
    lab.client.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert row(lab, hit) == ("Assignable", 1, 0, 1)


def test_a_rejection_can_be_overridden_for_thirty_days(lab, make_worker):
    hit = lab.hit(LifetimeInSeconds=31_536_000)
    first, second = do(make_worker("a"), hit), do(make_worker("b"), hit)
    for one in (first, second):
        lab.client.reject_assignment(AssignmentId=one.assignment_id, RequesterFeedback="no")
    clock_advance(by=timedelta(days=29))
    lab.client.approve_assignment(AssignmentId=first.assignment_id, OverrideRejection=True)
    clock_advance(by=timedelta(days=2))
    refused(
        "InvalidAssignmentState",
        lab.client.approve_assignment,
        AssignmentId=second.assignment_id,
        OverrideRejection=True,
    )
    assert LedgerEntry.objects.filter(kind="reward").count() == 1


def test_a_forgotten_hit_is_disposed_after_120_days(lab):
    hit = lab.hit()
    clock_advance(by=timedelta(seconds=3600) + timedelta(days=119))
    assert row(lab, hit)[0] == "Reviewable"
    clock_advance(by=timedelta(days=2))
    assert row(lab, hit)[0] == "Disposed"
    assert lab.client.list_hits()["NumResults"] == 0


def test_events_come_in_order_with_the_times_they_were_due(lab, worker):
    kind = lab.client.create_hit_type(
        **{name: HIT[name] for name in ("AssignmentDurationInSeconds", "Reward", "Title", "Description")}
    )
    everything = "AssignmentAccepted AssignmentAbandoned AssignmentReturned AssignmentSubmitted AssignmentRejected AssignmentApproved HITCreated HITExpired HITReviewable HITExtended HITDisposed".split()
    lab.client.update_notification_settings(
        HITTypeId=kind["HITTypeId"],
        Notification={
            "Destination": "http://127.0.0.1:9/",
            "Transport": "SNS",
            "Version": "2014-08-15",
            "EventTypes": everything,
        },
    )
    hit = lab.client.create_hit_with_hit_type(
        HITTypeId=kind["HITTypeId"], LifetimeInSeconds=3600, Question=HIT["Question"]
    )["HIT"]
    accept(worker, hit)
    clock_advance(by=timedelta(days=200))

    sweep()
    import json

    events = [json.loads(body)["Events"][0] for body in Delivery.objects.order_by("pk").values_list("body", flat=True)]
    assert [event["EventType"] for event in events] == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentAbandoned",
        "HITExpired",
        "HITReviewable",
        "HITDisposed",
    ]
    times = [event["EventTimestamp"] for event in events]
    assert times == sorted(times)
    assert Hit.objects.get().state == "Disposed"


def test_a_stopped_clock_stands_still(lab):
    at = clock.now()
    clock_freeze(at=at)
    assert clock.now() == clock.now() == at
    clock_advance(by=timedelta(minutes=5))
    assert clock.now() == at + timedelta(minutes=5)


def test_more_than_one_hit_of_a_type_and_another_type_cost_what_they_say(lab, worker):
    lab.hit(Reward="0.07", MaxAssignments=1)  # 20% of 7 cents is 1.4: rounded to 1
    assert str(lab.money()["held"]) == "0.08"
    lab.hit(Reward="0.00", MaxAssignments=1)  # at least a cent
    assert str(lab.money()["held"]) == "0.09"
    lab.hit(Reward="0.10", MaxAssignments=10)  # ten and more: 40%
    assert str(lab.money()["held"]) == "1.49"


def test_a_lab_of_its_own_pays_no_fees(make_requester, site, worker):
    side = make_requester(name="own", fees="none", url=site)
    sent = do(worker, side.hit())
    side.client.approve_assignment(AssignmentId=sent.assignment_id)
    side.client.send_bonus(WorkerId=worker.worker_id, AssignmentId=sent.assignment_id, BonusAmount="0.50", Reason="r")
    assert (str(side.money()["paid"]), str(side.money()["fees"])) == ("0.60", "0.00")


def test_a_type_with_another_reward_moves_the_hold_unless_someone_is_at_work(lab, worker):
    hit = lab.hit(Reward="0.10", MaxAssignments=1)
    dear = lab.client.create_hit_type(AssignmentDurationInSeconds=600, Reward="1.00", Title="t", Description="d")[
        "HITTypeId"
    ]
    lab.client.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=dear)
    assert str(lab.money()["held"]) == "1.20"
    accept(worker, hit)
    cheap = lab.client.create_hit_type(AssignmentDurationInSeconds=600, Reward="0.01", Title="t", Description="d")[
        "HITTypeId"
    ]
    refused("InvalidHITState", lab.client.update_hit_type_of_hit, HITId=hit["HITId"], HITTypeId=cheap)


def test_a_hit_that_cannot_be_carried_out_is_put_aside_and_stops_nobody(lab, make_requester, site, worker, caplog):
    broken = do(worker, lab.hit(AutoApprovalDelayInSeconds=60))
    Assignment.objects.filter(pk=broken.pk).update(fee=1000)  # more than was ever held
    other = make_requester(name="other", url=site)
    waits = other.hit(LifetimeInSeconds=120)
    clock_advance(by=timedelta(seconds=300))
    assert row(other, waits)[0] == "Reviewable"
    assert lab.client.get_account_balance()["AvailableBalance"]
    sweep()
    assert "cannot be carried out" in caplog.text
    assert Assignment.objects.get(pk=broken.pk).state == "Submitted"


def test_fees_that_changed_meanwhile_do_not_change_what_was_accepted(lab, worker):
    hit = lab.hit(MaxAssignments=2)
    sent = do(worker, hit)
    lab.requester.fee_rules = "none"
    lab.requester.save(update_fields=["fee_rules"])
    other = lab.client.create_hit_type(
        AssignmentDurationInSeconds=600, Reward=HIT["Reward"], Title="t", Description="d"
    )["HITTypeId"]
    refused("InvalidHITState", lab.client.update_hit_type_of_hit, HITId=hit["HITId"], HITTypeId=other)
    lab.client.approve_assignment(AssignmentId=sent.assignment_id)
    assert str(lab.money()["fees"]) == "0.02"


def test_many_events_of_one_hit_are_carried_out_piece_by_piece(lab, make_worker):
    from marketplace.services import due

    hit = lab.hit(MaxAssignments=9, AutoApprovalDelayInSeconds=60)
    for number in range(9):
        do(make_worker(f"w{number}"), hit)
    clock_advance(by=timedelta(hours=2))
    before = due.EVENTS_AT_A_TIME
    due.EVENTS_AT_A_TIME = 4
    try:
        assert due.due_carry_out(now=clock.now(), most=1) == 1
        assert Assignment.objects.filter(state="Approved").count() == 4
        assert due.due_carry_out(now=clock.now()) == 2
    finally:
        due.EVENTS_AT_A_TIME = before
    assert Assignment.objects.filter(state="Approved").count() == 9
    assert row(lab, hit) == ("Reviewable", 0, 0, 9)


def test_what_was_approved_elsewhere_counts_at_once(lab, make_requester, site, worker):
    first = make_requester(name="first", url=site)
    do(worker, first.hit(AutoApprovalDelayInSeconds=60))
    needs = [
        {"QualificationTypeId": "00000000000000000040", "Comparator": "GreaterThanOrEqualTo", "IntegerValues": [1]}
    ]
    hit = lab.hit(QualificationRequirements=needs)
    clock_advance(by=timedelta(seconds=90))
    assert accept(worker, hit, clock.now())


def test_a_policy_that_fails_keeps_the_submission(lab, worker):
    from tests.marketplace.test_conformance import POLICY

    hit = lab.hit(AssignmentReviewPolicy=POLICY, MaxAssignments=1)
    Hit.objects.update(
        assignment_review_policy={"PolicyName": "Unknown/2011"}
    )  # as an older version may have stored it
    assert do(worker, hit).state == "Submitted"
    found = lab.client.list_review_policy_results_for_hit(HITId=hit["HITId"])
    assert [action["Status"] for action in found["AssignmentReviewReport"]["ReviewActions"]] == ["Failed"]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Trieste|Rijeka", "Approved"),
        ("Rijeka|Trieste", "Approved"),
        ("Trieste", "Rejected"),
        ("Trieste|Rijeka|Split", "Rejected"),
    ],
)
def test_all_values_of_a_known_answer_have_to_be_given(lab, worker, answer, state):
    parameters = [
        {"Key": "AnswerKey", "MapEntries": [{"Key": "port", "Values": ["Trieste", "Rijeka"]}]},
        {"Key": "ApproveIfKnownAnswerScoreIsAtLeast", "Values": ["100"]},
        {"Key": "RejectIfKnownAnswerScoreIsLessThan", "Values": ["100"]},
    ]
    hit = lab.hit(AssignmentReviewPolicy={"PolicyName": "ScoreMyKnownAnswers/2011-09-01", "Parameters": parameters})
    sent = do(worker, hit, port=answer)
    assert Assignment.objects.get(pk=sent.pk).state == state


@pytest.mark.parametrize(
    "parameter",
    [
        {"Key": "ExtendMinimumTimeInSeconds", "Values": ["99999999999999"]},
        {"Key": "ApproveIfKnownAnswerScoreIsAtLeast", "Values": ["101"]},
        {"Key": "AnswerKey", "MapEntries": [{"Key": "q" * 256, "Values": ["a"]}]},
        {"Key": "AnswerKey", "MapEntries": [{"Key": "q"}]},
    ],
)
def test_a_policy_out_of_range_is_refused_when_the_hit_is_made(lab, parameter):
    base = [{"Key": "AnswerKey", "MapEntries": [{"Key": "q", "Values": ["a"]}]}]
    policy = {"PolicyName": "ScoreMyKnownAnswers/2011-09-01", "Parameters": [*base, parameter]}
    refused("InvalidParameterValue", lab.client.create_hit, **HIT, AssignmentReviewPolicy=policy)
