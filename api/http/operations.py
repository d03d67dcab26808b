"""How each operation is registered and guarded: token, limits, permission, body, one transaction, headers."""

import hashlib
import inspect
import logging
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.core.signals import got_request_exception
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils import timezone, translation
from ninja import Router, Status

from accounts.models import User
from accounts.permissions import Action, can
from annotation.models import Campaign
from api.http.authentication import token_of
from api.http.etags import matches
from api.http.limits import request_count
from api.http.once import answer_once, fingerprint_of, key_of
from api.http.presigned import received_before
from api.http.problems import PROBLEMS, Problem, Refused, invalid, not_found, problem_response
from api.http.uploads import Received, body_receive
from api.models import ApiToken, TokenScope
from api.tokens.services import token_used
from database.transactions import is_transient
from web.acting import acting_by
from web.fields import has_nul, own_fields
from web.request_log import current_request_id

IF_MATCH = {
    "in": "header",
    "name": "If-Match",
    "required": True,
    "schema": {"type": "string"},
    "description": "The ETag of the version that you changed.",
}
RETRY_SECONDS = 10
logger = logging.getLogger("django.request")
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class Permit:
    """The requirements of an operation: a token's scope (None: any), and an action of its owner (None: an operation decides)."""

    scope: TokenScope | None
    action: Action | None
    uploads: tuple[str, ...] = ()  # content types that are stored as files before the operation runs
    secrets: tuple[str, ...] = ()  # fields of the answer that aren't kept


class ApiRequest(HttpRequest):
    """A request after the guards: who asks, by which token, about which campaign."""

    user: User
    token: ApiToken
    campaign: Campaign
    received: Received
    answer_headers: dict[str, str]


View = Callable[..., Any]


def operation(
    router: Router,
    method: str,
    path: str,
    returns: Any,
    *,
    action: Action | None,
    scope: TokenScope | None = TokenScope.READ,
    status: int = 200,
    uploads: tuple[str, ...] = (),
    matches: bool = False,
    secrets: tuple[str, ...] = (),
) -> Callable[[View], View]:
    """Register a function as an operation. Its name is the operation's id, its docstring the description.

    ``matches`` says that the request needs ``If-Match``; the operation checks it. ``secrets`` are
    the fields of the answer that are stored nowhere: if the request is repeated, they are null. In paths with
    ``{campaign}``, ``request.campaign`` is the campaign, in which the token's owner may do ``action``.
    """
    if method in UNSAFE and scope in (None, TokenScope.READ):
        raise TypeError(f"{method} {path} needs another scope than {scope}")

    def register(view: View) -> View:
        told = inspect.getdoc(view) or ""

        @wraps(view)
        def stated(*args: Any, **parameters: Any) -> Any:
            result = view(*args, **parameters)
            return result if isinstance(result, HttpResponseBase) else Status(status, result)

        stated.permit = Permit(scope, action, uploads, secrets)  # type: ignore[attr-defined]
        extra: dict[str, Any] = {"x-token-scope": scope.value if scope else "any"}
        if matches:
            extra["parameters"] = [IF_MATCH]
        if uploads:
            schema = {"type": "string", "format": "binary"}
            extra["requestBody"] = {"required": False, "content": {kind: {"schema": schema} for kind in uploads}}
        router.api_operation(
            [method],
            path,
            response={status: returns, PROBLEMS[0]: Problem},  # the others are added to the description only
            operation_id=view.__name__,
            summary=re.split(r"\.\s|\.$|:\s", told, maxsplit=1)[0],
            description=told,
            openapi_extra=extra,
            url_name=f"api-{view.__name__.replace('_', '-')}",
        )(stated)
        return view

    return register


def guarded(run: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap the run of an operation (`NinjaAPI.add_decorator`)."""
    running: Any = getattr(run, "__self__")  # noqa: B009  a bound method's operation, which the stubs don't know
    permit: Permit = running.view_func.permit
    known = {name for model in running.models if model.__ninja_param_source__ == "query" for name in _names(model)}

    @wraps(run)
    def answer(request: HttpRequest, **parameters: Any) -> HttpResponseBase:
        with translation.override("en"):
            headers: dict[str, str] = {}
            try:
                response = _answered(cast("ApiRequest", request), headers, permit, known, run, parameters)
            except Refused as refused:
                response = problem_response(refused)
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return answer


def _names(model: Any) -> Iterable[str]:
    """Return the names of an operation's query parameters."""
    names: dict[str, Any] = model.__ninja_flatten_map__
    return names


def problems_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Wrap the view of an address: other methods and unexpected failures are answered with problems too."""

    @own_fields
    @wraps(view)
    def answer(request: HttpRequest, **parameters: Any) -> HttpResponseBase:
        try:
            response = view(request, **parameters)
        except Exception as error:  # noqa: BLE001  as Django does around every view
            return problem_response(_failure(request, error))
        if response.status_code != 405:
            return response
        allowed = response["Allow"]
        return problem_response(
            Refused(405, "method_not_allowed", f"This address allows {allowed}.", headers={"Allow": allowed})
        )

    return answer


def _failure(request: HttpRequest, error: Exception) -> Refused:
    """Report a failure as Django would, and return the problem for it. Nothing was saved."""
    if is_transient(error):
        said = "The database isn't responding. Nothing was saved. Try again in a moment."
        return Refused(503, "database_away", said, headers={"Retry-After": str(RETRY_SECONDS)})
    got_request_exception.send(sender=None, request=request)
    logger.error("Internal Server Error: %s", request.path, exc_info=error)
    said = f"Something unexpected went wrong. Nothing was saved; the log has the details under {current_request_id()}."
    return Refused(500, "failed", said)


def _answered(
    request: ApiRequest,
    headers: dict[str, str],
    permit: Permit,
    known: Collection[str],
    run: Callable[..., HttpResponseBase],
    parameters: dict[str, Any],
) -> HttpResponseBase:
    now = timezone.now()
    request.token = token = token_of(request, now)
    request.user = token.user
    headers.update(request_count(str(token.pk)))
    token_used(token=token, now=now)
    _permit(request, permit, parameters)
    request.answer_headers = headers
    if has_nul(request.GET):
        raise invalid([{"field": "", "detail": "A parameter contains the character NUL."}])
    if unknown := sorted(set(request.GET) - set(known)):
        said = f"This parameter is unknown. Known: {', '.join(sorted(known)) or 'none'}."
        raise invalid([{"field": unknown[0], "detail": said}])

    def act() -> HttpResponseBase:
        response = run(request, **parameters)
        for name, value in request.answer_headers.items():
            response.headers.setdefault(name, value)
        return response

    with acting_by(str(token.pk)):
        if request.method not in UNSAFE:
            return _unchanged(request, act())
        key, body_sha256 = key_of(request), _body_read(request, permit)
        try:
            response = answer_once(
                token=token,
                key=key,
                fingerprint=fingerprint_of(request, body_sha256),
                act=act,
                secrets=permit.secrets,
                now=now,
            )
        except Refused:
            _forget_upload(request)
            raise
        # A repeated transaction may find its own kept answer: then a job has taken this upload.
        if permit.uploads and (response.status_code >= 400 or not request.received.is_taken):
            request.received.forget()
        return response


def _permit(request: ApiRequest, permit: Permit, parameters: dict[str, Any]) -> None:
    """Refuse what the token or its owner may not do. Things of others don't seem to exist."""
    token = request.token
    if "campaign" in parameters:
        found = Campaign.objects.filter(slug=parameters["campaign"]).first()
        is_of_token = found is not None and token.campaign_id in (None, found.pk)
        if found is None or not is_of_token or not can(token.user, permit.action or Action.SEE_CAMPAIGN, found.pk):
            raise not_found()
        request.campaign = found
    elif permit.action is not None and (token.campaign_id or not can(token.user, permit.action)):
        raise Refused(403, "not_allowed", "Only administrators may do this, with a token that isn't for one campaign.")
    if permit.scope is not None and permit.scope not in token.scopes:
        raise Refused(403, "scope_missing", f'This token lacks the scope "{permit.scope}".')


def _body_read(request: ApiRequest, permit: Permit) -> str:
    """Read or store the body before any lock is taken, and return its SHA-256."""
    if permit.uploads and (upload := request.GET.get("upload")):
        if request.headers.get("Content-Length", "0") not in ("", "0"):
            raise invalid([{"field": "upload", "detail": "Send either a body or the parameter upload."}])
        sha256 = hashlib.sha256(upload.encode()).hexdigest()
        request.received = received_before(upload, request.campaign, permit.uploads, sha256)
        return sha256
    if permit.uploads:
        request.received = body_receive(request, permit.uploads)
        return request.received.sha256
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise Refused(413, "body_too_large", "The body is too large for this operation.") from error
    except UnreadablePostError as error:
        raise Refused(400, "body_incomplete", "The connection ended before the whole body arrived.") from error
    if body and request.content_type != "application/json":
        raise Refused(415, "content_type", "Send the body as application/json.")
    return hashlib.sha256(body).hexdigest()


def _forget_upload(request: ApiRequest) -> None:
    """Delete an upload that nothing will read. After an unexpected failure, a sweep decides (`jobs.uploads`)."""
    if (received := getattr(request, "received", None)) is not None:
        received.forget()


def _unchanged(request: ApiRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return an empty answer if the client has the current state already."""
    etag = request.answer_headers.get("ETag")
    if etag and response.status_code == 200 and matches(request.headers.get("If-None-Match", ""), etag):
        return HttpResponse(status=304)
    return response


def told(error: Exception) -> Refused | None:
    """Return the problem for an exception of Django's that a view may raise; None for others."""
    if isinstance(error, Http404):
        return not_found()
    if isinstance(error, PermissionDenied):
        return Refused(403, "not_allowed", "You may not do this.")
    return None
