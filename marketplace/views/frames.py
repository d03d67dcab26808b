"""The frame of a task: its address, the content of an HTMLQuestion, and the target of its form."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from csp.decorators import csp_exempt
from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.models import Assignment, Hit
from marketplace.protocol.questions import EXTERNAL, PREVIEW, frame_url, html_page, parse_question
from marketplace.services.assignments import WorkRefused, assignment_submit, is_submit_secret, submit_secret
from marketplace.services.requesters import frame_signature

_BASE = "allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals allow-downloads"
# A page elsewhere keeps its own origin, which is never ours; a page in a request has none at all.
SANDBOX_EXTERNAL = f"{_BASE} allow-same-origin"
SANDBOX_HTML = _BASE
_CONTENT_LASTS = 31_536_000
_NOWHERE = "preview"
_MOST_FIELDS = 5_000

_HELPER = """\
// The functions that pages written for Mechanical Turk expect.
function turkGetParam(name, fallback) {
  var value = new URLSearchParams(window.location.search).get(name);
  return value === null ? (fallback === undefined ? "" : fallback) : value;
}
function turkGetSubmitToHost() { return turkGetParam("turkSubmitTo", ""); }
function turkSetAssignmentID(formId, fieldId) {
  var assignment = turkGetParam("assignmentId", "");
  var form = document.getElementById(formId || "mturk_form");
  var field = document.getElementById(fieldId || "assignmentId");
  if (field) field.value = assignment;
  if (form) form.action = turkGetSubmitToHost() + "/mturk/externalSubmit";
  var button = document.getElementById("submitButton");
  if (button && assignment === "ASSIGNMENT_ID_NOT_AVAILABLE") {
    button.disabled = true;
    button.value = "Accept the HIT first";
  }
}
"""


@dataclass(frozen=True)
class Frame:
    """Data about a task for the surrounding page. A height of 0 fills the window."""

    url: str
    sandbox: str
    height: int


def frame_for(hit: Hit, assignment: Assignment | None = None) -> Frame:
    """Return the frame of a HIT: for an accepted assignment, or as a preview."""
    question = parse_question(hit.question)
    parameters = _parameters(hit, assignment)
    if question.kind == EXTERNAL:
        return Frame(frame_url(question.content, parameters), SANDBOX_EXTERNAL, question.frame_height)
    token = signing.dumps([hit.pk, assignment.pk if assignment else None], salt="content")
    url = f"{settings.MARKETPLACE_CONTENT_URL}/content/{token}/"
    return Frame(frame_url(url, parameters), SANDBOX_HTML, question.frame_height)


def submit_to(assignment: Assignment | None) -> str:
    """Return ``turkSubmitTo``, which contains this acceptance's secret."""
    return f"{settings.MARKETPLACE_URL}/s/{submit_secret(assignment) if assignment else _NOWHERE}"


@never_cache
@xframe_options_exempt
@csp_exempt()  # type: ignore[arg-type]  # its types know views without arguments only
def external_submit(request: HttpRequest, secret: str) -> HttpResponse:
    """Accept a task's form. Cookies are not used: the secret in the path identifies the assignment.

    GET is accepted too: browsers use it for forms without a method, which many tasks written for MTurk have.
    """
    if secret == _NOWHERE:
        return _told(request, "preview", 403)
    if not is_submit_secret(secret):
        return _told(request, "unknown", 403)
    if int(request.META.get("CONTENT_LENGTH") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return _told(request, "too_long", 413)
    fields = _form_fields(request)
    if not fields:
        return _told(request, "not_a_form", 400)
    try:
        assignment_submit(secret=secret, fields=fields, now=clock.now())
    except WorkRefused as refusal:
        return _told(request, refusal.reason, 403 if refusal.reason == "unknown" else 409)
    return _told(request, "submitted", 200)


@require_safe
@xframe_options_exempt
@csp_exempt()  # type: ignore[arg-type]
def content(request: HttpRequest, token: str) -> HttpResponse:
    """Serve an HTMLQuestion on its own host, sandboxed even if opened outside of a frame."""
    if request.headers.get("Sec-Fetch-Dest", "iframe") != "iframe":
        return HttpResponse("This page is part of a HIT.", status=403, content_type="text/plain")
    try:
        hit_pk, assignment_pk = signing.loads(token, salt="content", max_age=_CONTENT_LASTS)
    except signing.BadSignature:
        raise Http404 from None
    hit = Hit.objects.get(pk=hit_pk)
    assignment = Assignment.objects.get(pk=assignment_pk) if assignment_pk else None
    page = html_page(
        parse_question(hit.question).content,
        submit_url=f"{submit_to(assignment)}/mturk/externalSubmit",
        helper_url=f"{settings.MARKETPLACE_URL}/mturk/externalHIT_v1.js",
    )
    response = HttpResponse(page)
    site = urlsplit(settings.MARKETPLACE_URL)
    response["Content-Security-Policy"] = (
        f"sandbox {SANDBOX_HTML}; default-src https: {settings.MARKETPLACE_URL} data: blob: 'unsafe-inline' "
        f"'unsafe-eval'; form-action {settings.MARKETPLACE_URL}; "
        f"frame-ancestors {site.scheme}://{site.netloc}; base-uri 'none'"
    )
    response["X-Robots-Tag"] = "noindex"
    response["Cache-Control"] = "private, no-store"
    response["Referrer-Policy"] = "no-referrer"  # the address holds the submit secret
    return response


@require_safe
@cache_control(max_age=3600, public=True)
def helper_script(request: HttpRequest) -> HttpResponse:
    """Serve the few functions of MTurk's helper script."""
    response = HttpResponse(_HELPER, content_type="text/javascript; charset=utf-8")
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _form_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the fields that a form sent, in order; empty if the request isn't a form.

    Browsers send windows-1252 for pages without an encoding, so text that isn't UTF-8 is decoded as windows-1252.
    """
    if request.method == "POST" and request.content_type == "multipart/form-data":
        return [(name, value) for name, values in request.POST.lists() for value in values]
    if request.method == "POST" and request.content_type != "application/x-www-form-urlencoded":
        return []
    if request.method not in ("GET", "POST"):
        return []
    sent = request.body.decode("ascii", "replace") if request.method == "POST" else request.META["QUERY_STRING"]
    try:
        return parse_qsl(sent, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except UnicodeDecodeError:
        return parse_qsl(sent, keep_blank_values=True, encoding="cp1252", errors="replace", max_num_fields=_MOST_FIELDS)
    except ValueError:  # too many fields
        return []


def _parameters(hit: Hit, assignment: Assignment | None) -> dict[str, str]:
    quirks = settings.MARKETPLACE_QUIRKS
    if assignment is None:
        given = {"assignmentId": PREVIEW, "hitId": hit.hit_id, "turkSubmitTo": submit_to(None)}
    else:
        worker_id = assignment.worker.worker_id
        given = {
            "assignmentId": assignment.assignment_id,
            "hitId": hit.hit_id,
            "turkSubmitTo": submit_to(assignment),
            "workerId": f"{worker_id},{worker_id}" if quirks["doubled_worker_id"] else worker_id,
        }
        if hit.requester.signs_frames:
            expires = int(assignment.deadline_at.timestamp())
            given["quorateExpires"] = str(expires)
            given["quorateSignature"] = frame_signature(
                hit.requester,
                hit_id=hit.hit_id,
                assignment_id=assignment.assignment_id,
                worker_id=worker_id,
                expires=expires,
            )
    if quirks["missing_submit_to"]:
        del given["turkSubmitTo"]
    return given


def _told(request: HttpRequest, what: str, status: int) -> HttpResponse:
    """Return the small page shown in the frame after the form was sent."""
    response = render(request, "marketplace/told.html", {"what": what, "site": settings.MARKETPLACE_URL}, status=status)
    site = urlsplit(settings.MARKETPLACE_URL)
    response["Content-Security-Policy"] = (
        f"default-src 'none'; style-src {settings.MARKETPLACE_URL}; frame-ancestors {site.scheme}://{site.netloc}; "
        "base-uri 'none'; form-action 'none'"
    )
    return response
