"""Approve, reject or end assignments of a locked HIT. Callers hold the lock."""

from datetime import datetime
from decimal import Decimal

from database.statements import Save
from marketplace.models import Assignment, Hit, LedgerEntry
from marketplace.services.ledger import ledger_post
from marketplace.services.notifications import event_emit
from marketplace.services.settle import hit_settle

State = Assignment.State
_APPROVED = Save(Assignment, "state", "approved_at", "feedback")


def assignment_approve_now(assignment: Assignment, hit: Hit, *, at: datetime, feedback: str = "") -> None:
    """Approve and pay a submitted assignment of a locked HIT."""
    assignment.state = State.APPROVED
    assignment.approved_at = at
    assignment.feedback = feedback or assignment.feedback
    _APPROVED.run(assignment)
    hit.undecided -= 1
    hit.completed += 1
    assignment_pay(assignment, hit, at=at, from_held=True)
    hit_settle(hit, at=at)
    event_emit(event="AssignmentApproved", hit=hit, at=at, assignment=assignment)


def assignment_reject_now(assignment: Assignment, hit: Hit, *, feedback: str, at: datetime) -> None:
    """Reject a submitted assignment of a locked HIT and release the money held for it."""
    assignment.state = State.REJECTED
    assignment.rejected_at = at
    assignment.feedback = feedback
    assignment.save(update_fields=["state", "rejected_at", "feedback"])
    hit.undecided -= 1
    hit.completed += 1
    hit_settle(hit, at=at)
    event_emit(event="AssignmentRejected", hit=hit, at=at, assignment=assignment)


def assignment_pay(assignment: Assignment, hit: Hit, *, at: datetime, from_held: bool) -> None:
    """Pay the reward of an assignment of a locked HIT; the caller settles the HIT."""
    cost: Decimal = assignment.reward + assignment.fee
    nothing = Decimal(0)
    ledger_post(
        requester_id=hit.requester_id,
        kind=LedgerEntry.Kind.REWARD,
        at=at,
        hit=hit,
        assignment=assignment,
        paid=assignment.reward,
        fees=assignment.fee,
        held=-cost if from_held else nothing,
        available=nothing if from_held else -cost,
    )
    if from_held:
        hit.held -= cost


def assignment_end(assignment: Assignment, hit: Hit, *, state: Assignment.State, at: datetime) -> None:
    """End an accepted assignment of a locked HIT and free its slot."""
    assignment.state = state
    assignment.ended_at = at
    assignment.save(update_fields=["state", "ended_at"])
    hit.pending -= 1
    hit_settle(hit, at=at)
    event_emit(event=f"Assignment{state.value}", hit=hit, at=at, assignment=assignment)


def hit_dispose(hit: Hit, at: datetime) -> None:
    """Dispose of a locked HIT permanently; workers' records keep its assignments."""
    hit.state = Hit.State.DISPOSED
    hit.is_expired = True
    hit_settle(hit, at=at)
    event_emit(event="HITDisposed", hit=hit, at=at)
