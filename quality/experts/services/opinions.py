"""Experts' opinions: each given alone first, then discussed if they differ.

Opinions are hidden until all opinions requested for a case exist (Kwiatkowski et al. 2019, section 4.2: independent
judgments first, then a discussion and one consensus).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.audit import record
from accounts.models import User
from annotation.models import NotificationKind
from annotation.notifications.services import notify_daily
from annotation.tasktypes.base import Said
from annotation.tasktypes.registry import TASK_TYPES
from database.transactions import durable, require_transaction
from quality.experts.selectors import DISCUSSION_DAYS, discussions_overdue, proposal_of, seen_by
from quality.experts.services.cases import CaseError, case_end
from quality.gold.services.key_changes import key_judged
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import Case, CaseMessage, CaseReason, CaseState, GoldKey, Opinion, Phase
from quality.policies.services import policy_ensure

MOST_CHARACTERS = 2000


def said_from(case: Case, fields: Mapping[str, Any]) -> Said:
    """Return the grades that a form sent for the parts of a case, by their keys.

    Raises
    ------
    CaseError
        A part has no grade, or an unknown one.
    """
    grades = {str(grade): grade for grade in TASK_TYPES[case.campaign.task_type].grades}
    said = {part["key"]: grades.get(str(fields.get(part["key"], ""))) for part in case.parts}
    missing = [key for key, grade in said.items() if grade is None]
    if missing or not said:
        raise CaseError("opinion_part_missing")
    return said


@durable
def opinion_give(*, case: Case, surrogate_id: UUID, said: Said, justification: str, now: datetime) -> Opinion:
    """Save an expert's opinion, given alone. The last opinion that a case needs decides it, or opens its discussion.

    Giving an opinion again changes nothing.

    Raises
    ------
    CaseError
        The case is closed to opinions, the expert annotated the item, or it audits a label that may be the expert's
        own.
    """
    held = _held(case)
    given = held.opinions.filter(surrogate_id=surrogate_id, phase=Phase.BLIND).first()
    if given is not None:
        return given
    if held.state != CaseState.OPEN:
        raise CaseError("case_over")
    if seen_by(surrogate_id).filter(item=held.item).exists():
        raise CaseError("case_own_item")
    if held.because == CaseReason.AUDIT and _said_before(held, surrogate_id):
        raise CaseError("case_judged")
    opinion = Opinion.objects.create(
        case=held, surrogate_id=surrogate_id, said=said, justification=justification[:MOST_CHARACTERS], at=now
    )
    record(action="opinion_give", subject=opinion, now=now, actor_id=surrogate_id, scope_id=held.campaign_id)
    alone = list(held.opinions.filter(phase=Phase.BLIND).order_by("pk"))
    if len(alone) >= held.experts:
        if any(one.said != opinion.said for one in alone):
            Case.objects.filter(pk=held.pk).update(state=CaseState.CONSENSUS)
            record(action="case_discuss", subject=held, now=now, actor_id=None, scope_id=held.campaign_id)
            _tell_others(held, surrogate_id, now)
        else:
            _settle(held, opinion, now, is_joint=len(alone) > 1)
    return opinion


@durable
def case_discuss(*, case: Case, surrogate_id: UUID, text: str, now: datetime) -> CaseMessage:
    """Send a message to the other experts of a case.

    Raises
    ------
    CaseError
        The case is not in discussion, the sender gave no opinion, or the message is empty.
    """
    held = _held(case)
    _check_takes_part(held, surrogate_id)
    if not text.strip():
        raise CaseError("message_empty")
    _tell_others(held, surrogate_id, now)
    return CaseMessage.objects.create(case=held, surrogate_id=surrogate_id, text=text[:MOST_CHARACTERS], at=now)


def _tell_others(case: Case, surrogate_id: UUID, now: datetime) -> None:
    """Notify the other experts that a discussion opened or has a new message; at most once a day."""
    others = case.opinions.filter(phase=Phase.BLIND).exclude(surrogate_id=surrogate_id)
    notify_daily(
        campaign=case.campaign,
        kind=NotificationKind.DISCUSSION,
        users=User.objects.filter(surrogate__in=others.values("surrogate")),
        now=now,
        case=case.pk,
    )


@durable
def consensus_propose(*, case: Case, surrogate_id: UUID, said: Said, justification: str, now: datetime) -> Opinion:
    """Propose a consensus with a reason to the other experts. Earlier proposals are replaced but kept.

    Raises
    ------
    CaseError
        The case is not in discussion, the expert gave no opinion, or the reason is missing.
    """
    held = _held(case)
    _check_takes_part(held, surrogate_id)
    if not justification.strip():
        raise CaseError("consensus_reason")
    opinion = Opinion.objects.create(
        case=held,
        surrogate_id=surrogate_id,
        phase=Phase.PROPOSED,
        said=said,
        justification=justification[:MOST_CHARACTERS],
        at=now,
    )
    record(action="consensus_propose", subject=opinion, now=now, actor_id=surrogate_id, scope_id=held.campaign_id)
    _tell_others(held, surrogate_id, now)
    return opinion


@durable
def consensus_confirm(*, case: Case, proposal_id: int, surrogate_id: UUID, now: datetime) -> Opinion:
    """Confirm another expert's proposal, which decides the case.

    Raises
    ------
    CaseError
        The case is not in discussion, the expert gave no opinion or made the proposal, or there is a newer proposal.
    """
    held = _held(case)
    _check_takes_part(held, surrogate_id)
    proposal = proposal_of(held)
    if proposal is None or proposal.pk != proposal_id:
        raise CaseError("proposal_changed")
    if proposal.surrogate_id == surrogate_id:
        raise CaseError("proposal_own")
    opinion = Opinion.objects.create(
        case=held,
        surrogate_id=proposal.surrogate_id,
        phase=Phase.CONSENSUS,
        said=proposal.said,
        justification=proposal.justification,
        at=now,
        confirmed_by_id=surrogate_id,
    )
    record(action="consensus_reach", subject=opinion, now=now, actor_id=surrogate_id, scope_id=held.campaign_id)
    _settle(held, opinion, now, is_joint=False)
    return opinion


@durable
def discussion_decide(*, case: Case, said: Said, justification: str, actor_id: UUID, now: datetime) -> Opinion:
    """Decide, as a manager, a case whose experts did not agree in time; the record states this.

    Raises
    ------
    CaseError
        The experts still have time, the case audits a label (only experts judge those), the manager annotated the item,
        or the reason is missing.
    """
    held = _held(case)
    if not discussions_overdue(held.campaign, now).filter(pk=held.pk).exists():
        raise CaseError("case_not_overdue", days=DISCUSSION_DAYS)
    if seen_by(actor_id).filter(item=held.item).exists():
        raise CaseError("case_own_item")
    if not justification.strip():
        raise CaseError("consensus_reason")
    opinion = Opinion.objects.create(
        case=held,
        surrogate_id=actor_id,
        phase=Phase.CONSENSUS,
        said=said,
        justification=justification[:MOST_CHARACTERS],
        at=now,
        by_manager=True,
    )
    record(action="discussion_decide", subject=opinion, now=now, actor_id=actor_id, scope_id=held.campaign_id)
    _settle(held, opinion, now, is_joint=False)
    return opinion


def _held(case: Case) -> Case:
    """Lock a case's item, then the case, in the same order as when it is judged."""
    require_transaction()
    items_lock([case.item_id])
    rows = Case.objects.select_for_update(of=("self",), no_key=True).select_related("item__batch", "campaign")
    return rows.get(pk=case.pk)


def _said_before(case: Case, surrogate_id: UUID) -> bool:
    others = Opinion.objects.filter(case__item=case.item_id, surrogate_id=surrogate_id).exclude(case=case)
    return others.exists()


def _check_takes_part(case: Case, surrogate_id: UUID) -> None:
    if case.state != CaseState.CONSENSUS:
        raise CaseError("case_not_discussed")
    if not case.opinions.filter(surrogate_id=surrogate_id, phase=Phase.BLIND).exists():
        raise CaseError("case_not_yours")


def _settle(case: Case, opinion: Opinion, now: datetime, *, is_joint: bool) -> None:
    """Close a case with the opinion that decides it, and apply the result according to the case's reason."""
    if is_joint:  # several, who said the same
        Opinion.objects.create(
            case=case, surrogate_id=opinion.surrogate_id, phase=Phase.CONSENSUS, said=opinion.said, at=now
        )
    case_end(case=case, to=CaseState.DECIDED, now=now)
    if case.because == CaseReason.GOLD:
        key_judged(key=GoldKey.objects.select_related("campaign").get(item=case.item), said=opinion.said, now=now)
        return
    version, policy = policy_ensure(campaign=case.campaign, now=timezone.now())
    case.item.campaign = case.campaign
    items_judge(items=[case.item], version=version, policy=policy, now=now)
