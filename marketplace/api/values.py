"""Convert validated input into service arguments, and check limits that only MTurk's documentation states."""

import re
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from django.conf import settings

from marketplace.api.call import Call
from marketplace.models import HitLayout, HitType, QualificationType, Requester
from marketplace.protocol import requirements
from marketplace.protocol.errors import RequestError
from marketplace.protocol.questions import parse_question
from marketplace.protocol.review import parse_policy
from marketplace.services.hits import MOST_ASSIGNMENTS, HitValues, TypeValues

DEFAULT_AUTO_APPROVAL = 2_592_000
_RANGES = {
    "MaxAssignments": (1, MOST_ASSIGNMENTS),
    "AssignmentDurationInSeconds": (30, 31_536_000),
    "LifetimeInSeconds": (30, 31_536_000),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "NumberOfAdditionalAssignments": (1, MOST_ASSIGNMENTS),
    "TestDurationInSeconds": (1, 31_536_000),
    "RetryDelayInSeconds": (0, 31_536_000),
}
_LENGTHS = {
    "Title": 128,
    "Description": 2000,
    "Keywords": 1000,
    "RequesterAnnotation": 255,
    "Name": 200,
    "Reason": 4096,
    "RequesterFeedback": 1024,
    "Subject": 200,
    "Query": 200,
    "MessageText": 4096,
}
MOST_DOLLARS = Decimal(1_000_000)
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")


def check_limits(call: Call) -> None:
    """Reject a number out of its range or a text that is too long.

    Raises
    ------
    RequestError
        AWS.ParameterOutOfRange, naming the parameter and its limits.
    """
    for name, value in call.given.items():
        if name in _RANGES and value is not None and not _RANGES[name][0] <= value <= _RANGES[name][1]:
            low, high = _RANGES[name]
            raise RequestError("AWS.ParameterOutOfRange", f"{name} must be between {low} and {high}, not {value}.")
        if name in _LENGTHS and isinstance(value, str) and len(value) > _LENGTHS[name]:
            raise RequestError(
                "AWS.ParameterOutOfRange", f"{name} may have {_LENGTHS[name]} characters; it has {len(value)}."
            )


def type_values(call: Call) -> TypeValues:
    """Return the values of a HIT type."""
    return TypeValues(
        title=call.given["Title"],
        description=call.given["Description"],
        keywords=call.get("Keywords"),
        reward=amount(call.given["Reward"], "Reward"),
        assignment_seconds=call.given["AssignmentDurationInSeconds"],
        auto_approval_seconds=call.get("AutoApprovalDelayInSeconds", DEFAULT_AUTO_APPROVAL),
        requirements=_requirements(call),
    )


def hit_values(call: Call) -> HitValues:
    """Return the values of a HIT that aren't part of its type."""
    if call.get("HITReviewPolicy") is not None:
        raise RequestError(
            "InvalidParameterValue",
            "HITReviewPolicy is not carried out here (SimplePlurality): compute agreement where the data is collected.",
        )
    policy = call.get("AssignmentReviewPolicy")
    if policy is not None:
        parse_policy(policy)
    text, layout_id = _question(call)
    question = parse_question(text, own_hosts=own_hosts())
    return HitValues(
        question=text,
        question_kind=question.kind,
        layout_id=layout_id,
        max_assignments=call.get("MaxAssignments", 1),
        lifetime_seconds=call.given["LifetimeInSeconds"],
        annotation=call.get("RequesterAnnotation"),
        assignment_review_policy=policy,
    )


def own_hosts() -> frozenset[str]:
    """Return the marketplace's own hosts."""
    urls = (settings.MARKETPLACE_URL, settings.MARKETPLACE_CONTENT_URL)
    return frozenset(urlsplit(url).hostname or "" for url in urls)


def amount(text: str, name: str) -> Decimal:
    """Return a CurrencyAmount in dollars."""
    value = Decimal(text)
    if value > MOST_DOLLARS:
        raise RequestError("AWS.ParameterOutOfRange", f"{name} may be at most {MOST_DOLLARS} dollars.")
    return value.quantize(Decimal("0.01"))


def own_hit_type(requester: Requester, hit_type_id: str) -> HitType:
    """Return a requester's HIT type; another requester's type counts as missing."""
    found = HitType.objects.filter(requester=requester, hit_type_id=hit_type_id).first()
    if found is None:
        raise RequestError("HITTypeDoesNotExist", f"HIT type {hit_type_id} does not exist.")
    return found


def own_qualification_type(requester: Requester, type_id: str) -> QualificationType:
    """Return a requester's qualification type; another requester's type counts as missing."""
    found = QualificationType.objects.filter(
        requester=requester, qualification_type_id=type_id, deleted_at=None
    ).first()
    if found is None:
        raise no_such_type(type_id)
    return found


def no_such_type(type_id: str) -> RequestError:
    """Return the error for a qualification type that the caller cannot see."""
    return RequestError("QualificationTypeDoesNotExist", f"QualificationType {type_id} does not exist.")


def _requirements(call: Call) -> list[dict[str, Any]]:
    listed = requirements.normalise(call.get("QualificationRequirements", []))
    for requirement in listed:
        type_id = requirement["QualificationTypeId"]
        if type_id in requirements.MASTERS:
            raise RequestError(
                "InvalidParameterValue",
                "There are no Masters here: nobody could do this HIT. Ask for an approval record, or grant a "
                "qualification of your own.",
            )
        if type_id not in requirements.SYSTEM:
            _check_usable(call.requester, type_id)
    return listed


def _check_usable(requester: Requester, type_id: str) -> None:
    """Reject a qualification type that doesn't exist, or another requester's private type."""
    found = QualificationType.objects.filter(qualification_type_id=type_id, deleted_at=None).first()
    if found is None or (found.requester_id != requester.pk and not found.is_requestable):
        raise no_such_type(type_id)
    if not found.is_active:
        raise RequestError("InvalidQualificationTypeState", f"QualificationType {type_id} is Inactive.")


def _question(call: Call) -> tuple[str, str | None]:
    text, layout_id = call.get("Question"), call.get("HITLayoutId")
    if text is not None and layout_id is not None:
        raise RequestError("InvalidParameterValue", "Give a Question or a HITLayoutId, not both.")
    if text is not None:
        return text, None
    if layout_id is None:
        raise RequestError("AWS.MissingParameters", "A HIT needs a Question or a HITLayoutId.")
    layout = HitLayout.objects.filter(requester=call.requester, layout_id=layout_id).first()
    if layout is None:
        raise RequestError("InvalidParameterValue", f"HIT layout {layout_id} does not exist.")
    given = {one["Name"]: one["Value"] for one in call.get("HITLayoutParameters", [])}
    return _fill(layout.html, given), layout_id


def _fill(html: str, given: dict[str, str]) -> str:
    """Return a layout as an HTMLQuestion, its placeholders filled with escaped values."""
    wanted = set(_PLACEHOLDER.findall(html))
    if wanted != set(given):
        missing, surplus = (", ".join(sorted(names)) or "none" for names in (wanted - set(given), set(given) - wanted))
        raise RequestError("InvalidParameterValue", f"HITLayoutParameters: missing: {missing}; unknown: {surplus}.")
    page = _PLACEHOLDER.sub(lambda match: escape(given[match[1]], {'"': "&quot;", "'": "&#39;"}), html)
    namespace = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
    return (
        f'<HTMLQuestion xmlns="{namespace}"><HTMLContent>{escape(page)}</HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>"
    )
