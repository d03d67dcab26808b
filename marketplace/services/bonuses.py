"""Pay a bonus, only once per token, to a worker whose assignment the requester has received."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from marketplace.models import Assignment, Bonus, LedgerEntry, Requester
from marketplace.models.hits import VISIBLE
from marketplace.protocol.errors import RequestError
from marketplace.protocol.fees import RULES
from marketplace.services.assignments import no_such_assignment
from marketplace.services.ledger import ledger_post
from marketplace.services.tokens import token_use


def bonus_send(
    *,
    requester: Requester,
    worker_id: str,
    assignment_id: str,
    amount: Decimal,
    reason: str,
    token: str | None,
    request_id: str,
    now: datetime,
) -> Bonus:
    """Pay a bonus at once.

    Raises
    ------
    RequestError
        AssignmentDoesNotExist; InvalidParameterValue if the assignment is another worker's;
        RequestAlreadyExists for a token that was used; InsufficientFunds.
    """
    with transaction.atomic():
        token_use(requester=requester, operation="SendBonus", token=token, result=request_id, now=now)
        assignment = _submitted(requester, assignment_id, worker_id)
        fee = RULES[requester.fee_rules].on_bonus(amount)
        bonus = Bonus.objects.create(
            requester=requester,
            assignment=assignment,
            worker=assignment.worker,
            amount=amount,
            fee=fee,
            reason=reason,
            granted_at=now,
        )
        ledger_post(
            requester_id=requester.pk,
            kind=LedgerEntry.Kind.BONUS,
            at=now,
            hit=assignment.hit,
            assignment=assignment,
            bonus=bonus,
            available=-(amount + fee),
            paid=amount,
            fees=fee,
        )
    return bonus


def _submitted(requester: Requester, assignment_id: str, worker_id: str) -> Assignment:
    rows = Assignment.objects.filter(assignment_id=assignment_id, state__in=VISIBLE, requester=requester)
    assignment = rows.select_related("worker", "hit").first()
    if assignment is None:
        raise no_such_assignment(assignment_id)
    if assignment.worker.worker_id != worker_id:
        raise RequestError("InvalidParameterValue", f"Worker {worker_id} did not submit assignment {assignment_id}.")
    return assignment
