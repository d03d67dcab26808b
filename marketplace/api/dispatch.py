"""The one address of the requester API: ``POST /`` with ``X-Amz-Target``."""

import json
import logging
import socket
import time
import uuid
from typing import Any, NoReturn

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from database.statements import Statement
from marketplace import clock
from marketplace.api.call import Call
from marketplace.api.operations import OPERATIONS
from marketplace.api.values import check_limits
from marketplace.models import AccessKey, Fault, Requester
from marketplace.protocol import signature
from marketplace.protocol.errors import (
    ProtocolError,
    RequestError,
    SerializationError,
    ServiceFault,
    Throttled,
    UnknownOperationError,
)
from marketplace.protocol.service import target_prefix
from marketplace.protocol.shapes import validate_input
from marketplace.services.due import AT_MOST_BEFORE_AN_ANSWER, due_carry_out
from marketplace.services.faults import fault_take
from marketplace.services.requesters import key_secret
from marketplace.services.tokens import signature_use
from marketplace.throttle import Buckets

_LOG = logging.getLogger(__name__)
_CONTENT_TYPE = "application/x-amz-json-1.1"
_BUCKETS = Buckets()
# Sent again later without a token, these would move money again; an assignment is approved or rejected once, however
# often it is asked for.
_MOVES_MONEY_EACH_TIME = {
    "CreateHIT",
    "CreateHITWithHITType",
    "CreateAdditionalAssignmentsForHIT",
    "SendBonus",
    "UpdateExpirationForHIT",
    "UpdateHITTypeOfHIT",
}


def dispatch(request: HttpRequest) -> HttpResponse:
    """Answer one request of the protocol, whatever happens, in the protocol's own terms."""
    request_id = str(uuid.uuid4())
    try:
        requester = _authenticate(request)
        operation = _operation(request)
        request.operation = f"api.{operation}"  # type: ignore[attr-defined]  # for the request's log line and metrics
        if not _BUCKETS.take(requester.customer_id, rate=settings.MARKETPLACE_API_RATE):
            raise Throttled  # noqa: TRY301 - answered like every refusal
        fault = fault_take(operation)
        response = _break_before(request, fault) if fault else None
        if response is None:
            response = _answer(_carry_out(request, requester, operation, request_id))
            response = _break_after(request, response, fault) if fault else response
    except ProtocolError as error:
        response = _answer(_error_body(error), status=error.status)
    except Exception:  # noqa: BLE001 - a client of the protocol understands nothing else
        _LOG.exception("request %s failed", request_id)
        fault_ = ServiceFault("There was an error with this request.")
        response = _answer(_error_body(fault_), status=fault_.status)
    response["x-amzn-RequestId"] = request_id
    return response


_KEY = Statement(
    lambda key_id: AccessKey.objects.select_related("requester").filter(key_id=key_id, revoked_at=None), str
)


def _authenticate(request: HttpRequest) -> Requester:
    keys: dict[str, AccessKey] = {}

    def secret_of(key_id: str) -> str | None:
        key = _KEY.first(key_id)
        if key is None:
            return None
        keys[key_id] = key
        return key_secret(key)

    try:
        body = request.body
    except RequestDataTooBig:
        raise SerializationError("The body of the request is too large.") from None
    received = signature.Request(
        url=request.build_absolute_uri(),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=body,
    )
    key_id = signature.verify(received, secret_of=secret_of, now=timezone.now())
    return keys[key_id].requester


def _operation(request: HttpRequest) -> str:
    prefix, _, operation = request.headers.get("X-Amz-Target", "").partition(".")
    if prefix != target_prefix() or operation not in OPERATIONS:
        raise UnknownOperationError(f"There is no operation {request.headers.get('X-Amz-Target', '')!r}.")
    return operation


def _carry_out(request: HttpRequest, requester: Requester, operation: str, request_id: str) -> dict[str, Any]:
    try:
        given = json.loads(request.body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"The body is not JSON: {error}") from error
    call = Call(operation, requester, validate_input(operation, given), request_id, clock.now())
    check_limits(call)
    if operation in _MOVES_MONEY_EACH_TIME and call.get("UniqueRequestToken") is None:
        used = signature.signature_of(request.headers["Authorization"])
        signature_use(signature=used, address=get_ip(request), now=timezone.now())
    due_carry_out(now=call.now, requester=requester, most=AT_MOST_BEFORE_AN_ANSWER)
    return OPERATIONS[operation](call)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _answer(body: dict[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(json.dumps(body, ensure_ascii=False), content_type=_CONTENT_TYPE, status=status)


def _error_body(error: ProtocolError) -> dict[str, str]:
    body = error.body()
    if isinstance(error, RequestError) and settings.MARKETPLACE_QUIRKS["milliseconds_in_messages"]:
        body["Message"] += f" ({int(clock.now().timestamp() * 1000)} s)"
    return body


def _break_before(request: HttpRequest, fault: Fault) -> HttpResponse | None:
    """Apply a fault that acts before the operation; return None if the fault acts later."""
    kind = Fault.Kind(fault.kind)
    if kind == Fault.Kind.THROTTLE:
        raise Throttled
    if kind == Fault.Kind.ERROR:
        raise ServiceFault("There was an error with this request.")
    if kind == Fault.Kind.UNAVAILABLE:
        return HttpResponse("", status=505)
    if kind == Fault.Kind.DROP_BEFORE:
        return _drop(request)
    if kind == Fault.Kind.SLOW:
        time.sleep(min(fault.seconds, 60))
    return None


def _break_after(request: HttpRequest, response: HttpResponse, fault: Fault) -> HttpResponse:
    """Lose or truncate the response after the operation was committed."""
    if fault.kind == Fault.Kind.DROP_AFTER:
        return _drop(request)
    if fault.kind == Fault.Kind.TRUNCATE:
        response.content = response.content[: len(response.content) // 2]
    return response


def _drop(request: HttpRequest) -> HttpResponse:
    """Close the connection without a response."""
    connection = request.META.get("gunicorn.socket")
    if connection is None:
        raise ServiceFault("Only the real server can drop a connection.")
    connection.shutdown(socket.SHUT_RDWR)
    return HttpResponse("")
