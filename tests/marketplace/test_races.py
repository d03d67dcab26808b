"""Many at once: threads on a real database, each with its own connection."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError
from django.db import connections
from django.utils import timezone

from marketplace.models import Assignment, Bonus, Hit, LedgerEntry
from marketplace.services.assignments import WorkRefused, assignment_accept
from tests.marketplace.acts import accept, do, submit
from tests.marketplace.conftest import HIT, client_for

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(count, act):
    """Call ``act(number)`` in threads that start together; return the results in order."""
    gate = threading.Barrier(count)

    def run(number):
        try:
            gate.wait(30)
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_forty_workers_race_for_five_assignments(lab, make_worker):
    hit = lab.hit(MaxAssignments=5)
    crowd = [make_worker(f"w{number}") for number in range(40)]

    def act(number):
        try:
            return assignment_accept(hit_id=hit["HITId"], worker=crowd[number], now=timezone.now())
        except WorkRefused as refusal:
            return refusal.reason

    outcomes = at_once(40, act)
    accepted = [one for one in outcomes if isinstance(one, Assignment)]
    assert len(accepted) == 5
    assert sorted(one.slot for one in accepted) == [0, 1, 2, 3, 4]
    assert outcomes.count("full") == 35
    assert lab.client.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Unassignable"


def test_without_the_lock_the_constraint_still_holds(lab, make_worker):
    """The control: two acceptances that do not see each other cannot both be stored."""
    from django.db import IntegrityError, transaction

    first = accept(make_worker("a"), lab.hit(MaxAssignments=1))
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            requester=first.requester,
            hit=first.hit,
            worker=make_worker("b"),
            assignment_id="3OTHER",
            slot=0,
            accepted_at=first.accepted_at,
            deadline_at=first.deadline_at,
            reward=first.reward,
            fee=first.fee,
        )
    with pytest.raises(IntegrityError), transaction.atomic():
        Hit.objects.filter(pk=first.hit_id).update(pending=2)


@pytest.mark.parametrize("operation", ["create_hit", "send_bonus", "create_additional_assignments_for_hit"])
def test_twenty_retries_with_one_token_have_one_effect(lab, site, worker, operation):
    hit = lab.hit()
    sent = do(worker, hit)
    given = {
        "create_hit": HIT,
        "send_bonus": {
            "WorkerId": worker.worker_id,
            "AssignmentId": sent.assignment_id,
            "BonusAmount": "1.00",
            "Reason": "r",
        },
        "create_additional_assignments_for_hit": {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 2},
    }[operation]
    before = lab.money()

    def act(_number):
        try:
            return getattr(client_for(site, lab.key), operation)(**given, UniqueRequestToken="one")
        except ClientError as error:
            return error.response["TurkErrorCode"].rpartition(".")[2]

    outcomes = at_once(20, act)
    expected = "HitAlreadyExists" if operation == "create_hit" else "RequestAlreadyExists"
    assert outcomes.count(expected) == 19, outcomes
    after = lab.money()
    moved = {pot: after[pot] - before[pot] for pot in before}
    assert {pot: str(amount) for pot, amount in moved.items()} == {
        "create_hit": {"deposited": "0.00", "available": "-0.36", "held": "0.36", "paid": "0.00", "fees": "0.00"},
        "send_bonus": {"deposited": "0.00", "available": "-1.20", "held": "0.00", "paid": "1.00", "fees": "0.20"},
        "create_additional_assignments_for_hit": {
            "deposited": "0.00",
            "available": "-0.24",
            "held": "0.24",
            "paid": "0.00",
            "fees": "0.00",
        },
    }[operation]
    assert Hit.objects.count() == (2 if operation == "create_hit" else 1)
    assert Bonus.objects.count() == (1 if operation == "send_bonus" else 0)


def test_twenty_submissions_of_one_form_are_one(lab, worker):
    assignment = accept(worker, lab.hit())
    states = at_once(20, lambda number: submit(assignment, port=str(number)).state)
    assert set(states) == {"Submitted"}
    stored = Assignment.objects.get()
    assert stored.answer.count("<Answer>") == 1
    assert Hit.objects.get().undecided == 1


def test_approvals_that_race_pay_once(lab, site, worker):
    sent = do(worker, lab.hit())

    def act(_number):
        try:
            client_for(site, lab.key).approve_assignment(AssignmentId=sent.assignment_id)
        except ClientError as error:
            return error.response["TurkErrorCode"].rpartition(".")[2]
        return "approved"

    outcomes = at_once(12, act)
    assert sorted(outcomes) == ["InvalidAssignmentState"] * 11 + ["approved"]
    assert LedgerEntry.objects.filter(kind="reward").count() == 1


def test_bonuses_and_approvals_of_one_hit_do_not_stop_each_other(lab, site, make_worker):
    hit = lab.hit(MaxAssignments=9)
    sent = [do(make_worker(f"w{number}"), hit) for number in range(8)]

    def act(number):
        client, mine = client_for(site, lab.key), sent[number % 8]
        if number < 8:
            client.approve_assignment(AssignmentId=mine.assignment_id)
        else:
            client.send_bonus(
                WorkerId=mine.worker.worker_id, AssignmentId=mine.assignment_id, BonusAmount="0.10", Reason="r"
            )
        return "done"

    assert at_once(16, act) == ["done"] * 16
    money = lab.money()
    assert (str(money["paid"]), str(money["fees"])) == ("1.60", "0.32")


def test_a_submission_that_waits_for_a_change_of_type_is_stored(lab, make_worker):
    hit = lab.hit(MaxAssignments=9)
    held = [accept(make_worker(f"w{number}"), hit) for number in range(6)]
    kinds = [
        lab.client.create_hit_type(AssignmentDurationInSeconds=600, Reward="0.10", Title=f"t{number}", Description="d")[
            "HITTypeId"
        ]
        for number in range(6)
    ]
    from marketplace.models import HitType
    from marketplace.services.hits import hit_change_type

    types = [HitType.objects.get(hit_type_id=kind) for kind in kinds]

    def act(number):
        if number < 6:
            return submit(held[number]).state
        hit_change_type(requester=lab.requester, hit_id=hit["HITId"], hit_type=types[number - 6], now=timezone.now())
        return "changed"

    assert sorted(at_once(12, act)) == ["Submitted"] * 6 + ["changed"] * 6


def test_one_invitation_makes_one_account_however_many_press_at_once(site, settings):
    from django.test import Client

    from marketplace.models import Worker
    from marketplace.services.workers import invitation_create

    settings.MARKETPLACE_OPEN_SIGNUP = False
    token = invitation_create(uses=1, days=1, note="", now=timezone.now())
    host = {"host": "worker.localhost"}

    def act(number):
        client = Client()
        client.get(f"/join/{token}/", headers=host)
        form = {
            "email": f"p{number}@example.org",
            "password1": "correct horse battery",
            "password2": "correct horse battery",
        }
        return client.post("/account/signup/", form, headers=host).status_code

    outcomes = at_once(5, act)
    assert Worker.objects.count() == 1, outcomes
