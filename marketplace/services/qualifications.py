"""Qualification types, their holders, requests and tests."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from marketplace.models import Qualification, QualificationRequest, QualificationType, Requester, Worker, WorkerMessage
from marketplace.protocol.answers import Answer, to_xml
from marketplace.protocol.errors import RequestError
from marketplace.protocol.forms import parse_form, parse_key
from marketplace.protocol.ids import entity_id

State = QualificationRequest.State


@dataclass
class RequestRefused(Exception):
    """A worker can't request this qualification now; ``until`` is the time from which it is possible, if any."""

    reason: str
    until: datetime | None = None

    def __str__(self) -> str:
        return self.reason


def qualification_type_create(*, requester: Requester, values: dict[str, Any], now: datetime) -> QualificationType:
    """Create a qualification type.

    Raises
    ------
    RequestError
        QualificationTypeAlreadyExists if the name is taken; XMLParseError and InvalidParameterValue for a test.
    """
    kind = QualificationType(requester=requester, qualification_type_id=entity_id(), created_at=now, **values)
    _check(kind)
    try:
        with transaction.atomic():
            kind.save()
    except IntegrityError:
        raise RequestError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name. A QualificationType's name must be "
            "unique among all of the QualificationTypes created by the same user.",
        ) from None
    return kind


def qualification_type_update(*, kind: QualificationType, values: dict[str, Any]) -> QualificationType:
    """Change a qualification type; omitted values don't change."""
    with transaction.atomic():
        locked = QualificationType.objects.select_for_update(of=("self",)).get(pk=kind.pk)
        if "test" in values:  # a test, its key and the end of automatic grants come together
            values = {"answer_key": None, "auto_granted": False, **values}
        if values.get("auto_granted") is False:
            values = {**values, "auto_granted_value": None}
        for name, value in values.items():
            setattr(locked, name, value)
        if locked.auto_granted and locked.auto_granted_value is None:
            locked.auto_granted_value = 1
        _check(locked)
        locked.save()
    return locked


def qualification_type_delete(*, kind: QualificationType, now: datetime) -> None:
    """Delete a qualification type, its grants and its open requests (choice: its name is free at once)."""
    with transaction.atomic():
        QualificationType.objects.filter(pk=kind.pk).update(deleted_at=now, is_active=False)
        kind.requests.filter(state__in=[State.BEGUN, State.PENDING]).update(state=State.REJECTED, decided_at=now)


def qualification_grant(
    *, kind: QualificationType, worker: Worker, value: int | None, notify: bool, now: datetime
) -> Qualification:
    """Give a worker a qualification, or change its value. The worker's own open request is not affected."""
    with transaction.atomic():
        granted, _ = Qualification.objects.update_or_create(
            qualification_type=kind,
            worker=worker,
            defaults={"value": value, "is_granted": True, "granted_at": now, "reason": ""},
        )
        if notify:
            _tell(worker, kind, f"You now hold the qualification “{kind.name}”.", now)
    return granted


def qualification_revoke(*, kind: QualificationType, worker: Worker, reason: str, now: datetime) -> None:
    """Revoke a qualification.

    Raises
    ------
    RequestError
        QualificationDoesNotExist; InvalidQualificationState if it was revoked before.
    """
    with transaction.atomic():
        held = Qualification.objects.select_for_update().filter(qualification_type=kind, worker=worker).first()
        if held is None:
            raise no_such_qualification(worker, kind)
        if not held.is_granted:
            raise RequestError("InvalidQualificationState", "This operation can be called with a status of: Granted")
        held.is_granted = False
        held.reason = reason
        held.save(update_fields=["is_granted", "reason"])
        _tell(worker, kind, f"Your qualification “{kind.name}” was taken back. {reason}".strip(), now)


def request_begin(*, kind: QualificationType, worker: Worker, now: datetime) -> QualificationRequest:
    """Request a qualification. A test begins if there is one; else the request is sent, and granted if automatic.

    Raises
    ------
    RequestRefused
        inactive, have (already held), open (a request is pending), once (no second try) or early (with ``until``).
    """
    with transaction.atomic():
        kind = QualificationType.objects.select_for_update(of=("self",)).get(pk=kind.pk)
        begun = kind.requests.filter(worker=worker, state=State.BEGUN).first()
        if begun is not None and now < test_deadline(begun):
            return begun
        if begun is not None:  # the time is over: what was not sent counts as a try
            begun.submitted_at = test_deadline(begun)
            begun.save(update_fields=["submitted_at"])
            _close(begun, State.REJECTED, begun.submitted_at)
        _check_may_ask(kind, worker, now)
        request = QualificationRequest.objects.create(
            qualification_type=kind,
            worker=worker,
            request_id=entity_id(),
            state=State.BEGUN if kind.test else State.PENDING,
            test=kind.test,
            answer_key=kind.answer_key,
            test_seconds=kind.test_seconds,
            begun_at=now,
            submitted_at=None if kind.test else now,
        )
        if kind.auto_granted:
            qualification_grant(kind=kind, worker=worker, value=kind.auto_granted_value, notify=False, now=now)
            _close(request, State.GRANTED, now)
    return request


def request_submit(*, request: QualificationRequest, answers: list[Answer], now: datetime) -> QualificationRequest:
    """Submit a test. With an answer key it is scored and granted at once; otherwise the requester decides.

    Raises
    ------
    RequestRefused
        late: the time for the test is over; sent: the test was submitted before.
    """
    with transaction.atomic():
        locked = (
            QualificationRequest.objects.select_for_update(of=("self",))
            .select_related("qualification_type")
            .get(pk=request.pk)
        )
        kind = locked.qualification_type
        if locked.state != State.BEGUN:
            raise RequestRefused("sent")
        if now >= test_deadline(locked):
            raise RequestRefused("late")
        locked.answer = to_xml(answers)
        locked.state = State.PENDING
        locked.submitted_at = now
        locked.save(update_fields=["answer", "state", "submitted_at"])
        if locked.answer_key:
            score = parse_key(locked.answer_key, parse_form(locked.test or "")).score(answers)
            qualification_grant(kind=kind, worker=locked.worker, value=score, notify=False, now=now)
            _close(locked, State.GRANTED, now)
    return locked


def request_decide(
    *, requester: Requester, request_id: str, grant: bool, value: int | None, reason: str, now: datetime
) -> None:
    """Grant or reject a pending request.

    Raises
    ------
    RequestError
        QualificationRequestDoesNotExist; InvalidQualificationRequestState.
    """
    with transaction.atomic():
        request = (
            QualificationRequest.objects.select_for_update(of=("self",))
            .select_related("qualification_type", "worker")
            .filter(request_id=request_id, qualification_type__requester=requester)
            .exclude(state=State.BEGUN)
            .first()
        )
        if request is None:
            raise RequestError(
                "QualificationRequestDoesNotExist", f"Qualification request {request_id} does not exist."
            )
        if request.state != State.PENDING:
            raise RequestError(
                "InvalidQualificationRequestState", f"Qualification request {request_id} was decided before."
            )
        kind = request.qualification_type
        if grant:
            qualification_grant(kind=kind, worker=request.worker, value=value, notify=True, now=now)
            _close(request, State.GRANTED, now)
            return
        _close(request, State.REJECTED, now, reason)
        _tell(request.worker, kind, f"Your request for “{kind.name}” was not granted. {reason}".strip(), now)


def test_deadline(request: QualificationRequest) -> datetime:
    """Return the time at which a test ends."""
    return request.begun_at + timedelta(seconds=request.test_seconds or 0)


def no_such_qualification(worker: Worker, kind: QualificationType) -> RequestError:
    """Return the error for a qualification that a worker never had."""
    return RequestError(
        "QualificationDoesNotExist",
        f"Worker {worker.worker_id} does not have qualification {kind.qualification_type_id}: it does not exist.",
    )


def _close(request: QualificationRequest, state: QualificationRequest.State, at: datetime, reason: str = "") -> None:
    request.state = state
    request.decided_at = at
    request.reason = reason
    request.save(update_fields=["state", "decided_at", "reason"])


def _check(kind: QualificationType) -> None:
    if kind.test is None:
        if kind.answer_key is not None:
            raise RequestError("InvalidParameterValue", "An AnswerKey needs a Test.")
    elif not kind.test_seconds or kind.auto_granted:
        raise RequestError("InvalidParameterValue", "A Test needs TestDurationInSeconds and excludes AutoGranted.")
    else:
        form = parse_form(kind.test)
        if kind.answer_key is not None:
            parse_key(kind.answer_key, form)
    if kind.auto_granted_value is not None and not kind.auto_granted:
        raise RequestError("InvalidParameterValue", "AutoGrantedValue needs AutoGranted.")


def _check_may_ask(kind: QualificationType, worker: Worker, now: datetime) -> None:
    if not kind.is_active or not kind.is_requestable or kind.deleted_at:
        raise RequestRefused("inactive")
    again = kind.test is not None and kind.retry_delay_seconds is not None  # for a better score
    if not again and kind.qualifications.filter(worker=worker, is_granted=True).exists():
        raise RequestRefused("have")
    if kind.requests.filter(worker=worker, state=State.PENDING).exists():
        raise RequestRefused("open")
    last = kind.requests.filter(worker=worker).order_by("-begun_at", "-pk").first()
    if last is None:
        return
    if kind.retry_delay_seconds is None:
        raise RequestRefused("once")
    until = (last.submitted_at or last.begun_at) + timedelta(seconds=kind.retry_delay_seconds)
    if now < until:
        raise RequestRefused("early", until)


def _tell(worker: Worker, kind: QualificationType, text: str, now: datetime) -> None:
    """Send a worker a message, at most one per day and type, since a requester may name any worker."""
    today = WorkerMessage.objects.filter(
        worker=worker, requester_id=kind.requester_id, subject=kind.name, sent_at__gt=now - timedelta(days=1)
    )
    if today.exists():
        return
    WorkerMessage.objects.create(
        worker=worker, requester_id=kind.requester_id, subject=kind.name, text=text, sent_at=now
    )
