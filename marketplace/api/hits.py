"""Operations on HIT types and HITs."""

import re
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from database.statements import Statement
from marketplace.api import render
from marketplace.api.call import Call, Operation, page
from marketplace.api.values import hit_values, own_hit_type, own_qualification_type, type_values
from marketplace.models import Hit, ReviewResult
from marketplace.protocol.errors import RequestError
from marketplace.services import hits as service

_ENTITY_ID = re.compile(r"[A-Z0-9]{1,64}")


def create_hit_type(call: Call) -> dict[str, Any]:
    """Return the HIT type with these values, creating it if necessary."""
    kind = service.hit_type_get_or_create(requester=call.requester, values=type_values(call), now=call.now)
    return {"HITTypeId": kind.hit_type_id}


def create_hit(call: Call) -> dict[str, Any]:
    """Post a HIT, creating its type if necessary."""
    return _create(call, type_values(call))


def create_hit_with_hit_type(call: Call) -> dict[str, Any]:
    """Post a HIT of an existing type."""
    return _create(call, own_hit_type(call.requester, call.given["HITTypeId"]))


def get_hit(call: Call) -> dict[str, Any]:
    """Return one HIT, disposed or not."""
    return {"HIT": render.hit(own_hit(call))}


def list_hits(call: Call) -> dict[str, Any]:
    """Return all HITs that are not disposed, newest first."""
    return page(call, _listed(call), "HITs", render.hit, newest_first=True)


def list_reviewable_hits(call: Call) -> dict[str, Any]:
    """Return HITs that are Reviewable, or Reviewing on request."""
    rows = _listed(call).filter(state=call.get("Status", "Reviewable"))
    if call.get("HITTypeId") is not None:
        rows = rows.filter(hit_type=own_hit_type(call.requester, call.given["HITTypeId"]))
    return page(call, rows, "HITs", render.hit, newest_first=True)


def list_hits_for_qualification_type(call: Call) -> dict[str, Any]:
    """Return the HITs that require a qualification of the requester."""
    kind = own_qualification_type(call.requester, call.given["QualificationTypeId"])
    types = [
        pk
        for pk, requirements in call.requester.hit_types.values_list("pk", "requirements")
        if any(one["QualificationTypeId"] == kind.qualification_type_id for one in requirements)
    ]
    return page(call, _listed(call).filter(hit_type_id__in=types), "HITs", render.hit, newest_first=True)


def create_additional_assignments(call: Call) -> dict[str, Any]:
    """Ask for more assignments."""
    service.hit_extend(
        requester=call.requester,
        hit_id=call.given["HITId"],
        more=call.given["NumberOfAdditionalAssignments"],
        token=call.get("UniqueRequestToken"),
        request_id=call.request_id,
        now=call.now,
    )
    return {}


def update_expiration(call: Call) -> dict[str, Any]:
    """Change the expiration; a past time means now."""
    service.hit_expire_at(
        requester=call.requester, hit_id=call.given["HITId"], expires_at=call.time("ExpireAt"), now=call.now
    )
    return {}


def update_review_status(call: Call) -> dict[str, Any]:
    """Move between Reviewable and Reviewing."""
    service.hit_review(
        requester=call.requester, hit_id=call.given["HITId"], revert=call.get("Revert", False), now=call.now
    )
    return {}


def update_hit_type(call: Call) -> dict[str, Any]:
    """Give a HIT another type."""
    service.hit_change_type(
        requester=call.requester,
        hit_id=call.given["HITId"],
        hit_type=own_hit_type(call.requester, call.given["HITTypeId"]),
        now=call.now,
    )
    return {}


def delete_hit(call: Call) -> dict[str, Any]:
    """Dispose of a HIT."""
    service.hit_delete(requester=call.requester, hit_id=call.given["HITId"], now=call.now)
    return {}


def list_review_policy_results(call: Call) -> dict[str, Any]:
    """Return the results and actions of the assignment review policy; policies on whole HITs aren't supported."""
    hit = own_hit(call)
    rows: QuerySet[ReviewResult] = hit.review_results.select_related("assignment")
    wanted = [call.get("RetrieveResults", True), call.get("RetrieveActions", True)]
    if "Assignment" not in call.get("PolicyLevels", ["Assignment"]) or not any(wanted):
        rows = rows.none()
    elif not all(wanted):
        rows = rows.filter(is_action=wanted[1])
    found = page(call, rows, "rows", lambda row: {"row": row})
    listed = [entry["row"] for entry in found["rows"]]
    return render.present(
        HITId=hit.hit_id,
        AssignmentReviewPolicy=hit.assignment_review_policy,
        AssignmentReviewReport={
            "ReviewResults": [_result(row) for row in listed if not row.is_action],
            "ReviewActions": [_action(row) for row in listed if row.is_action],
        },
        NextToken=found.get("NextToken"),
    )


_OWN = Statement(
    lambda requester, hit_id: Hit.objects.filter(requester_id=requester, hit_id=hit_id).select_related("hit_type"),
    int,
    str,
)


def own_hit(call: Call) -> Hit:
    """Return the requester's HIT named in the input; another requester's HIT counts as missing."""
    hit: Hit | None = _OWN.first(call.requester.pk, call.given["HITId"])
    if hit is None:
        raise RequestError("HITDoesNotExist", f"Hit {call.given['HITId']} does not exist.")
    return hit


def _create(call: Call, hit_type: Any) -> dict[str, Any]:
    hit = service.hit_create(
        requester=call.requester,
        hit_type=hit_type,
        values=hit_values(call),
        token=call.get("UniqueRequestToken"),
        now=call.now,
    )
    return {"HIT": render.hit(hit)}


def _listed(call: Call) -> QuerySet[Hit]:
    rows = call.requester.hits.exclude(state=Hit.State.DISPOSED).select_related("hit_type")
    lag = settings.MARKETPLACE_QUIRKS["index_lag_seconds"]
    return rows.filter(created_at__lte=call.now - timedelta(seconds=lag)) if lag else rows


def _result(row: ReviewResult) -> dict[str, Any]:
    """Return a result. The model only allows capitals and digits in a QuestionId; other names go into the key."""
    is_id = bool(_ENTITY_ID.fullmatch(row.question_id or ""))
    return render.present(
        ActionId=row.action_id,
        SubjectId=row.assignment.assignment_id,
        SubjectType="Assignment",
        QuestionId=row.question_id if is_id else None,
        Key=row.name if is_id or row.question_id is None else f"{row.name} {row.question_id}",
        Value=row.value,
    )


def _action(row: ReviewResult) -> dict[str, Any]:
    return render.present(
        ActionId=row.action_id,
        ActionName=row.name,
        TargetId=row.assignment.assignment_id,
        TargetType="Assignment",
        Status=row.status,
        CompleteTime=render.time(row.at),
        Result=row.value if row.status == "Succeeded" else None,
        ErrorCode=None if row.status == "Succeeded" else row.value,
    )


OPERATIONS: dict[str, Operation] = {
    "CreateAdditionalAssignmentsForHIT": create_additional_assignments,
    "CreateHIT": create_hit,
    "CreateHITType": create_hit_type,
    "CreateHITWithHITType": create_hit_with_hit_type,
    "DeleteHIT": delete_hit,
    "GetHIT": get_hit,
    "ListHITs": list_hits,
    "ListHITsForQualificationType": list_hits_for_qualification_type,
    "ListReviewPolicyResultsForHIT": list_review_policy_results,
    "ListReviewableHITs": list_reviewable_hits,
    "UpdateExpirationForHIT": update_expiration,
    "UpdateHITReviewStatus": update_review_status,
    "UpdateHITTypeOfHIT": update_hit_type,
}
