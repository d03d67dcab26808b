"""Operations on assignments, bonuses and the account."""

from functools import cache
from typing import Any

from database.statements import Statement
from marketplace.api import render
from marketplace.api.call import Call, Operation, page
from marketplace.api.hits import own_hit
from marketplace.api.values import amount
from marketplace.models import Assignment, Bonus
from marketplace.models.hits import VISIBLE
from marketplace.protocol.errors import RequestError
from marketplace.services.assignments import assignment_approve, assignment_reject, no_such_assignment
from marketplace.services.bonuses import bonus_send


def list_assignments(call: Call) -> dict[str, Any]:
    """Return the submitted assignments of a HIT in the order of acceptance."""
    states = call.get("AssignmentStatuses", list(VISIBLE)) or list(VISIBLE)
    hit = own_hit(call)

    def rows(after: int, most: int) -> list[Assignment]:
        return _of_hit(frozenset(states), most).instances(hit.pk, after)

    return page(call, rows, "Assignments", render.assignment)


@cache
def _of_hit(states: frozenset[str], most: int) -> Statement:
    rows = Assignment.objects.filter(state__in=sorted(states)).select_related("worker", "hit")
    return Statement(lambda hit, after: rows.filter(hit_id=hit, pk__gt=after).order_by("pk")[:most], int, int)


def get_assignment(call: Call) -> dict[str, Any]:
    """Return a submitted assignment and its HIT."""
    row = own_assignment(call)
    return {"Assignment": render.assignment(row), "HIT": render.hit(row.hit)}


def approve(call: Call) -> dict[str, Any]:
    """Approve and pay."""
    assignment_approve(
        requester=call.requester,
        assignment_id=call.given["AssignmentId"],
        feedback=call.get("RequesterFeedback", ""),
        override=call.get("OverrideRejection", False),
        now=call.now,
    )
    return {}


def reject(call: Call) -> dict[str, Any]:
    """Refuse to pay, with a reason."""
    assignment_reject(
        requester=call.requester,
        assignment_id=call.given["AssignmentId"],
        feedback=call.given["RequesterFeedback"],
        now=call.now,
    )
    return {}


def send_bonus(call: Call) -> dict[str, Any]:
    """Pay a bonus."""
    value = amount(call.given["BonusAmount"], "BonusAmount")
    if value <= 0:
        raise RequestError("AWS.ParameterOutOfRange", "BonusAmount must be more than 0.")
    bonus_send(
        requester=call.requester,
        worker_id=call.given["WorkerId"],
        assignment_id=call.given["AssignmentId"],
        amount=value,
        reason=call.given["Reason"],
        token=call.get("UniqueRequestToken"),
        request_id=call.request_id,
        now=call.now,
    )
    return {}


def list_bonus_payments(call: Call) -> dict[str, Any]:
    """Return the bonuses of a HIT or of an assignment."""
    rows = Bonus.objects.filter(requester=call.requester).select_related("worker", "assignment")
    if call.get("HITId") is not None:
        rows = rows.filter(assignment__hit=own_hit(call))
    if call.get("AssignmentId") is not None:
        rows = rows.filter(assignment=own_assignment(call))
    if call.get("HITId") is None and call.get("AssignmentId") is None:
        raise RequestError("AWS.MissingParameters", "Give a HITId or an AssignmentId.")
    return page(call, rows, "BonusPayments", render.bonus)


def get_account_balance(call: Call) -> dict[str, Any]:
    """Return the available balance and the amount held for open work."""
    call.requester.refresh_from_db()
    return {
        "AvailableBalance": render.money(call.requester.available),
        "OnHoldBalance": render.money(call.requester.held),
    }


def get_file_upload_url(call: Call) -> dict[str, Any]:
    """Refuse: files were withdrawn from the protocol in 2017."""
    raise RequestError(
        "InvalidParameterValue", "File uploads were withdrawn from the protocol on 2017-12-12; use an HTMLQuestion."
    )


def own_assignment(call: Call) -> Assignment:
    """Return the submitted assignment named in the input; another requester's assignment counts as missing."""
    rows = Assignment.objects.select_related("hit__hit_type", "worker")
    found = rows.filter(assignment_id=call.given["AssignmentId"], state__in=VISIBLE, requester=call.requester).first()
    if found is None:
        raise no_such_assignment(call.given["AssignmentId"])
    return found


OPERATIONS: dict[str, Operation] = {
    "ApproveAssignment": approve,
    "GetAccountBalance": get_account_balance,
    "GetAssignment": get_assignment,
    "GetFileUploadURL": get_file_upload_url,
    "ListAssignmentsForHIT": list_assignments,
    "ListBonusPayments": list_bonus_payments,
    "RejectAssignment": reject,
    "SendBonus": send_bonus,
}
