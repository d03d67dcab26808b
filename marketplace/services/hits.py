"""Create, extend, expire, review and delete HITs. Every change of one HIT happens under its lock."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace.models import Hit, HitType, Requester
from marketplace.protocol.errors import RequestError
from marketplace.protocol.fees import MANY_ASSIGNMENTS, RULES
from marketplace.protocol.ids import entity_id
from marketplace.protocol.lifecycle import REVIEWABLE, REVIEWING
from marketplace.services.decisions import hit_dispose
from marketplace.services.due import hit_advance
from marketplace.services.notifications import event_emit
from marketplace.services.settle import hit_lock, hit_settle
from marketplace.services.tokens import token_use

MOST_ASSIGNMENTS = 1_000_000_000
LONGEST_LIFE = timedelta(days=365)
_CHANGEABLE = (Hit.State.ASSIGNABLE, Hit.State.UNASSIGNABLE, Hit.State.REVIEWABLE)


@dataclass(frozen=True)
class TypeValues:
    """The values of a HIT type; equal values are the same type."""

    title: str
    description: str
    keywords: str | None
    reward: Decimal
    assignment_seconds: int
    auto_approval_seconds: int
    requirements: list[dict[str, Any]]

    def fingerprint(self) -> str:
        """Return a digest that is equal for equal values."""
        values = [*self.__dict__.values()]
        return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class HitValues:
    """The values of a HIT that aren't part of its type."""

    question: str
    question_kind: str
    layout_id: str | None
    max_assignments: int
    lifetime_seconds: int
    annotation: str | None
    assignment_review_policy: dict[str, Any] | None


def hit_type_get_or_create(*, requester: Requester, values: TypeValues, now: datetime) -> HitType:
    """Return the requester's HIT type with these values."""
    fingerprint = values.fingerprint()
    found = HitType.objects.filter(requester=requester, fingerprint=fingerprint).first()
    if found:
        return found
    try:
        with transaction.atomic():
            return HitType.objects.create(
                requester=requester,
                hit_type_id=entity_id(),
                group_id=entity_id(),
                fingerprint=fingerprint,
                created_at=now,
                **values.__dict__,
            )
    except IntegrityError:  # another call made it meanwhile
        return HitType.objects.get(requester=requester, fingerprint=fingerprint)


def hit_create(
    *, requester: Requester, hit_type: HitType | TypeValues, values: HitValues, token: str | None, now: datetime
) -> Hit:
    """Post a HIT and hold the money for all its assignments.

    Raises
    ------
    RequestError
        HitAlreadyExists for a token that was used; InsufficientFunds.
    """
    hit_id = entity_id()
    with transaction.atomic():
        token_use(requester=requester, operation="CreateHIT", token=token, result=hit_id, now=now)
        if isinstance(hit_type, TypeValues):
            hit_type = hit_type_get_or_create(requester=requester, values=hit_type, now=now)
        hit = Hit.objects.create(
            requester=requester,
            hit_type=hit_type,
            hit_id=hit_id,
            question=values.question,
            question_kind=values.question_kind,
            layout_id=values.layout_id,
            max_assignments=values.max_assignments,
            reward=hit_type.reward,
            fee_each=_fee_each(requester, hit_type.reward, values.max_assignments),
            annotation=values.annotation,
            assignment_review_policy=values.assignment_review_policy,
            created_at=now,
            expires_at=now + timedelta(seconds=values.lifetime_seconds),
            held=Decimal(0),
        )
        hit_settle(hit, at=now)
        event_emit(event="HITCreated", hit=hit, at=now)
    return hit


def hit_extend(
    *, requester: Requester, hit_id: str, more: int, token: str | None, request_id: str, now: datetime
) -> None:
    """Ask for more assignments of a HIT.

    Raises
    ------
    RequestError
        InvalidMaximumAssignmentsIncrease from below ten to ten or more; InvalidHITState; InsufficientFunds.
    """
    with transaction.atomic():
        token_use(
            requester=requester,
            operation="CreateAdditionalAssignmentsForHIT",
            token=token,
            result=request_id,
            now=now,
        )
        hit = hit_lock(hit_id, requester=requester)
        hit_advance(hit, now=now)
        check_modifiable(hit, now)
        if hit.state == Hit.State.DISPOSED:
            raise invalid_hit_state(hit, *_CHANGEABLE)
        after = hit.max_assignments + more
        if hit.max_assignments < MANY_ASSIGNMENTS <= after:
            raise RequestError(
                "InvalidMaximumAssignmentsIncrease",
                f"A HIT made with fewer than {MANY_ASSIGNMENTS} assignments cannot be extended to "
                f"{MANY_ASSIGNMENTS} or more ({hit.max_assignments} + {more}).",
            )
        if after > MOST_ASSIGNMENTS:
            raise RequestError("AWS.ParameterOutOfRange", f"A HIT can have at most {MOST_ASSIGNMENTS:,} assignments.")
        hit.max_assignments = after
        hit_settle(hit, at=now)
        event_emit(event="HITExtended", hit=hit, at=now)


def hit_expire_at(*, requester: Requester, hit_id: str, expires_at: datetime, now: datetime) -> None:
    """Change a HIT's expiration; a past time means now.

    Raises
    ------
    RequestError
        InvalidHITState if the HIT is disposed; InsufficientFunds if it opens again.
    """
    with transaction.atomic():
        hit = hit_lock(hit_id, requester=requester)
        hit_advance(hit, now=now)
        if hit.state == Hit.State.DISPOSED:
            raise invalid_hit_state(hit, *_CHANGEABLE)
        if expires_at <= now:
            hit.expires_at = hit.due_at = min(hit.expires_at, now)
            hit_advance(hit, now=now)
            return
        check_modifiable(hit, now)
        if expires_at > now + LONGEST_LIFE:
            raise RequestError("AWS.ParameterOutOfRange", "ExpireAt may be at most 365 days ahead.")
        longer = expires_at > hit.expires_at
        hit.expires_at = expires_at
        hit.is_expired = False
        hit_settle(hit, at=now)
        if longer:
            event_emit(event="HITExtended", hit=hit, at=now)


def hit_review(*, requester: Requester, hit_id: str, revert: bool, now: datetime) -> None:
    """Move a HIT between Reviewable and Reviewing."""
    source, target = (REVIEWING, REVIEWABLE) if revert else (REVIEWABLE, REVIEWING)
    with transaction.atomic():
        hit = hit_lock(hit_id, requester=requester)
        hit_advance(hit, now=now)
        if hit.state != source:
            raise invalid_hit_state(hit, source)
        hit.state = target
        hit.save(update_fields=["state"])


def hit_delete(*, requester: Requester, hit_id: str, now: datetime) -> None:
    """Dispose of a HIT whose assignments are all decided.

    Raises
    ------
    RequestError
        InvalidHITState: the HIT is still open, or an assignment is undecided.
    """
    with transaction.atomic():
        hit = hit_lock(hit_id, requester=requester)
        hit_advance(hit, now=now)
        if hit.state not in (REVIEWABLE, REVIEWING) or hit.undecided:
            raise invalid_hit_state(hit, REVIEWING, REVIEWABLE)
        hit_dispose(hit, now)


def hit_change_type(*, requester: Requester, hit_id: str, hit_type: HitType, now: datetime) -> None:
    """Give a HIT another type; the money held follows the new reward.

    Raises
    ------
    RequestError
        InvalidHITState: the HIT is disposed, or its cost would change while work is pending or undecided
        (choice: work is paid at the reward at which it was accepted); InsufficientFunds.
    """
    with transaction.atomic():
        hit = hit_lock(hit_id, requester=requester)
        hit_advance(hit, now=now)
        check_modifiable(hit, now)
        fee_each = _fee_each(requester, hit_type.reward, hit.max_assignments)
        busy = hit.cost_each != hit_type.reward + fee_each and (hit.pending or hit.undecided)
        if hit.state == Hit.State.DISPOSED or busy:
            raise invalid_hit_state(hit, *_CHANGEABLE)
        hit.hit_type = hit_type
        hit.reward = hit_type.reward
        hit.fee_each = fee_each
        hit_settle(hit, at=now)


def check_modifiable(hit: Hit, now: datetime) -> None:
    """Reject a change in the first seconds of a HIT, if the quirk is on."""
    if now < hit.created_at + timedelta(seconds=settings.MARKETPLACE_QUIRKS["unmodifiable_seconds"]):
        raise invalid_hit_state(hit, Hit.State.ASSIGNABLE)


def invalid_hit_state(hit: Hit, *allowed: str) -> RequestError:
    """Return the error for an operation that isn't allowed in the HIT's state."""
    return RequestError(
        "InvalidHITState",
        f"This HIT is currently in the state '{hit.state}'.  "
        f"This operation can be called with a status of: {', '.join(str(state) for state in allowed)}",
    )


def _fee_each(requester: Requester, reward: Decimal, max_assignments: int) -> Decimal:
    return RULES[requester.fee_rules].on_reward(reward, max_assignments)
