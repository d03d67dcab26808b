"""Accept, submit and return (workers); approve and reject (requesters)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction

from database.statements import Insert, Save, Statement
from marketplace.models import Assignment, Hit, Requester, Worker
from marketplace.models.hits import ENDED, LIVE, VISIBLE
from marketplace.protocol.answers import MAX_CHARACTERS, from_form, to_xml
from marketplace.protocol.errors import RequestError
from marketplace.protocol.ids import entity_id
from marketplace.protocol.lifecycle import OVERRIDE_WITHIN
from marketplace.services.decisions import (
    assignment_approve_now,
    assignment_end,
    assignment_pay,
    assignment_reject_now,
)
from marketplace.services.due import AT_MOST_BEFORE_AN_ANSWER, due_carry_out, hit_advance
from marketplace.services.notifications import event_emit
from marketplace.services.review import review_guarded
from marketplace.services.settle import hit_lock, hit_settle, hit_type_read
from marketplace.services.standing import is_blocked, unmet_for

State = Assignment.State
_SIGNER = Signer(salt="submit", sep="~")
MOST_ACCEPTED = 25  # at a time, as on MTurk


@dataclass
class WorkRefused(Exception):
    """A worker may not do this; ``reason`` is a key of ``marketplace.views.words.REFUSALS``."""

    reason: str

    def __str__(self) -> str:
        return self.reason


_ADD = Insert(Assignment)
_SUBMITTED = Save(Assignment, "state", "answer", "submitted_at", "auto_approval_at")
_HIT_OF = Statement(lambda pk: Assignment.objects.filter(pk=pk).values_list("hit__hit_id"), int)
_BY_PK = Statement(lambda pk: Assignment.objects.filter(pk=pk), int)
_VISIBLE = Statement(
    lambda assignment_id, requester: (
        Assignment.objects.filter(assignment_id=assignment_id, state__in=LIVE, requester_id=requester)
        .order_by("pk")
        .values_list("hit__hit_id", "pk")[:1]
    ),
    str,
    int,
)
_MINE = Statement(
    lambda hit, worker: (
        Assignment.objects.filter(hit_id=hit, worker_id=worker, state__in=LIVE).order_by("pk").values_list("state")[:1]
    ),
    int,
    int,
)
_WORKER_LOCK = Statement(lambda pk: Worker.objects.select_for_update(no_key=True).filter(pk=pk).values_list("pk"), int)
_ACCEPTED = Statement(
    lambda worker, now: Assignment.objects.filter(
        worker_id=worker, state=State.ACCEPTED, deadline_at__gt=now
    ).values_list("pk")[:MOST_ACCEPTED],
    int,
    datetime,
)
_LAST_SLOT = Statement(
    lambda hit: Assignment.objects.filter(hit_id=hit, state__in=LIVE).order_by("-slot").values_list("slot")[:1], int
)


def submit_secret(assignment: Assignment) -> str:
    """Return the secret in the submit path of one acceptance; a previous holder of the slot has another secret."""
    return _SIGNER.sign(str(assignment.pk))


def is_submit_secret(secret: str) -> bool:
    """Return whether this installation issued a secret, without a database query."""
    try:
        _SIGNER.unsign(secret)
    except BadSignature:
        return False
    return True


def assignment_accept(*, hit_id: str, worker: Worker, now: datetime, group_id: str = "") -> Assignment:
    """Assign a slot of a HIT to a worker.

    ``group_id`` is the group that the worker saw the HIT in; another group has a different reward and time.

    Raises
    ------
    WorkRefused
        gone, changed (the group), blocked, unqualified, held (accepted already), done, full or too_many.
    """
    due_carry_out(now=now, worker=worker, most=AT_MOST_BEFORE_AN_ANSWER)  # what they have been approved counts
    with transaction.atomic():
        try:
            hit = hit_lock(hit_id)
        except RequestError:
            raise WorkRefused("gone") from None
        kind = hit_type_read(hit)
        if group_id and kind.group_id != group_id:
            raise WorkRefused("changed")
        hit_advance(hit, now=now)
        _check_may_accept(hit, worker, now)
        slot, assignment_id = _place(hit)
        assignment = Assignment(
            requester_id=hit.requester_id,
            hit=hit,
            worker=worker,
            assignment_id=assignment_id,
            slot=slot,
            accepted_at=now,
            deadline_at=now + timedelta(seconds=kind.assignment_seconds),
            reward=hit.reward,
            fee=hit.fee_each,
        )
        _ADD.run(assignment)
        hit.pending += 1
        hit_settle(hit, at=now)
        event_emit(event="AssignmentAccepted", hit=hit, at=now, assignment=assignment)
    return assignment


def assignment_submit(*, secret: str, fields: Iterable[tuple[str, str]], now: datetime) -> Assignment:
    """Store the answer of the holder of a submit secret. A repeated submission has no effect and isn't an error.

    Raises
    ------
    WorkRefused
        unknown, returned, abandoned (the deadline has passed) or too_long.
    """
    try:
        pk = int(_SIGNER.unsign(secret))
    except BadSignature:
        raise WorkRefused("unknown") from None
    [(hit_id,)] = _HIT_OF.rows(pk)
    answer = to_xml(from_form(fields))
    if len(answer) > MAX_CHARACTERS:
        raise WorkRefused("too_long")
    with transaction.atomic():
        hit = hit_lock(hit_id)
        hit_advance(hit, now=now)
        assignment: Assignment = _BY_PK.first(pk)
        assignment.hit = hit
        if assignment.state == State.ACCEPTED:
            _submit(assignment, hit, answer, now)
    if assignment.state in ENDED:
        raise WorkRefused(assignment.state.lower())
    return assignment


def assignment_return(*, assignment_pk: int, worker: Worker, now: datetime) -> Assignment:
    """Return an accepted assignment; if it has already ended, nothing changes."""
    with transaction.atomic():
        found = Assignment.objects.select_related("hit").get(pk=assignment_pk, worker=worker)
        hit = hit_lock(found.hit.hit_id)
        hit_advance(hit, now=now)
        assignment = hit.assignments.get(pk=assignment_pk)
        if assignment.state == State.ACCEPTED:
            assignment_end(assignment, hit, state=State.RETURNED, at=now)
    return assignment


def assignment_approve(
    *, requester: Requester, assignment_id: str, feedback: str, override: bool, now: datetime
) -> None:
    """Approve and pay. A rejected assignment needs ``override``, within 30 days of its submission.

    Raises
    ------
    RequestError
        AssignmentDoesNotExist; InvalidAssignmentState; InsufficientFunds for an override.
    """
    with transaction.atomic():
        assignment, hit = _lock_visible(requester, assignment_id, now)
        _check_decidable(assignment, now)
        if assignment.state == State.REJECTED and override:
            _override(assignment, hit, feedback, now)
        elif assignment.state == State.SUBMITTED:
            assignment_approve_now(assignment, hit, at=now, feedback=feedback)
        else:
            raise invalid_assignment_state("Submitted")


def assignment_reject(*, requester: Requester, assignment_id: str, feedback: str, now: datetime) -> None:
    """Refuse to pay; the slot of the HIT stays used.

    Raises
    ------
    RequestError
        AssignmentDoesNotExist; InvalidAssignmentState.
    """
    with transaction.atomic():
        assignment, hit = _lock_visible(requester, assignment_id, now)
        _check_decidable(assignment, now)
        if assignment.state != State.SUBMITTED:
            raise invalid_assignment_state("Submitted")
        assignment_reject_now(assignment, hit, feedback=feedback, at=now)


def invalid_assignment_state(allowed: str) -> RequestError:
    """Return the error for a decision that the assignment's state forbids."""
    return RequestError("InvalidAssignmentState", f"This operation can be called with a status of: {allowed}")


def _check_may_accept(hit: Hit, worker: Worker, now: datetime) -> None:
    if mine := _MINE.rows(hit.pk, worker.pk):
        raise WorkRefused("held" if mine[0][0] == State.ACCEPTED else "done")
    if hit.state == Hit.State.DISPOSED or hit.is_expired:
        raise WorkRefused("gone")
    if not hit.available:
        raise WorkRefused("full")
    if is_blocked(worker, hit.hit_type):
        raise WorkRefused("blocked")
    if unmet_for(worker, hit.hit_type.requirements, "Accept"):
        raise WorkRefused("unqualified")
    _WORKER_LOCK.rows(worker.pk)  # two acceptances at once count one by one
    if len(_ACCEPTED.rows(worker.pk, now)) >= MOST_ACCEPTED:
        raise WorkRefused("too_many")


def _place(hit: Hit) -> tuple[int, str]:
    """Return a free slot and an assignment id for it, preferably those of a returned assignment."""
    taken = hit.assignments.filter(state__in=LIVE)
    live = hit.pending + hit.undecided + hit.completed
    last = _LAST_SLOT.rows(hit.pk)
    if not last or last[0][0] < live:  # no gaps: the next one is free
        given_back = _ids_are_reused() and hit.assignments.filter(slot=live, state__in=ENDED).order_by("pk").last()
        return live, given_back.assignment_id if given_back else entity_id()
    free = hit.assignments.filter(state__in=ENDED).exclude(slot__in=taken.values("slot")).order_by("pk").last()
    if free is None:
        raise RuntimeError(f"HIT {hit.hit_id} has a gap among its places that nobody left")
    return free.slot, free.assignment_id if _ids_are_reused() else entity_id()


def _ids_are_reused() -> bool:
    return bool(settings.MARKETPLACE_QUIRKS["reuse_assignment_ids"])


def _submit(assignment: Assignment, hit: Hit, answer: str, now: datetime) -> None:
    assignment.state = State.SUBMITTED
    assignment.answer = answer
    assignment.submitted_at = now
    assignment.auto_approval_at = now + timedelta(seconds=hit_type_read(hit).auto_approval_seconds)
    _SUBMITTED.run(assignment)
    hit.pending -= 1
    hit.undecided += 1
    hit_settle(hit, at=now)
    event_emit(event="AssignmentSubmitted", hit=hit, at=now, assignment=assignment)
    review_guarded(assignment, hit, at=now)
    hit_advance(hit, now=now)  # a delay of 0 approves at once
    _BY_PK.refresh(assignment, assignment.pk)


def _lock_visible(requester: Requester, assignment_id: str, now: datetime) -> tuple[Assignment, Hit]:
    found = _VISIBLE.rows(assignment_id, requester.pk)
    if not found:
        raise no_such_assignment(assignment_id)
    [(hit_id, pk)] = found
    hit = hit_lock(hit_id)
    hit_advance(hit, now=now)
    assignment: Assignment = _BY_PK.first(pk)
    assignment.hit = hit
    if assignment.state not in VISIBLE:
        raise no_such_assignment(assignment_id)
    return assignment, hit


def no_such_assignment(assignment_id: str) -> RequestError:
    """Return the error for an assignment that doesn't exist or isn't this requester's."""
    return RequestError("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist.")


def _check_decidable(assignment: Assignment, now: datetime) -> None:
    wait = timedelta(seconds=settings.MARKETPLACE_QUIRKS["undecidable_seconds"])
    if assignment.submitted_at and now < assignment.submitted_at + wait:
        raise invalid_assignment_state("null")


def _override(assignment: Assignment, hit: Hit, feedback: str, now: datetime) -> None:
    if hit.state == Hit.State.DISPOSED or now > (assignment.submitted_at or now) + OVERRIDE_WITHIN:
        raise RequestError(
            "InvalidAssignmentState",
            f"A rejection can be overridden within {OVERRIDE_WITHIN.days} days of the submission "
            "and while the HIT is there.",
        )
    assignment_pay(assignment, hit, at=now, from_held=False)
    assignment.state = State.APPROVED
    assignment.approved_at = now
    assignment.feedback = feedback or assignment.feedback
    assignment.save(update_fields=["state", "approved_at", "feedback"])
    event_emit(event="AssignmentApproved", hit=hit, at=now, assignment=assignment)
