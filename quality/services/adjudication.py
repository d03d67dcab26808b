"""Experts decide what two rounds could not; they are blind to what was said before."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.audit import record
from accounts.transactions import durable
from annotation.models import Annotation, Campaign
from annotation.tasktypes.registry import voted
from quality.models import Case, CaseState, Opinion
from quality.selectors.policies import policy_current
from quality.services.verdicts import items_judge, items_lock


class CaseError(ValueError):
    """An expert cannot judge this case."""


def case_next(*, campaign: Campaign, surrogate_id: UUID, after: int = 0) -> Case | None:
    """Return the next open case of an item that this expert did not annotate."""
    own = Annotation.objects.filter(campaign=campaign, surrogate_id=surrogate_id).values("item")
    cases = Case.objects.filter(campaign=campaign, state=CaseState.OPEN, pk__gt=after).exclude(item__in=own)
    return cases.select_related("item", "campaign").order_by("pk").first()


@durable
def opinion_give(*, case: Case, surrogate_id: UUID, label: Any, justification: str, now: datetime) -> Opinion:
    """Record an expert's judgement and let it decide. Giving it again changes nothing.

    Raises
    ------
    CaseError
        The case is no longer open, the expert annotated the item, or there is no such label.
    """
    if label not in voted(case.campaign.task_type).labels:
        raise CaseError("there is no such label")
    found = policy_current(case.campaign)
    if found is None:
        raise CaseError("this campaign has no policy")
    items = items_lock([case.item_id])  # before its case, as when it is judged
    held = Case.objects.select_for_update(of=("self",), no_key=True).select_related("item").get(pk=case.pk)
    given = Opinion.objects.filter(case=case, surrogate_id=surrogate_id).first()
    if given is not None:
        return given
    if held.state != CaseState.OPEN:
        raise CaseError("this case was decided or recalled meanwhile")
    if Annotation.objects.filter(item=held.item, surrogate_id=surrogate_id).exists():
        raise CaseError("you annotated this item yourself")
    opinion = Opinion.objects.create(
        case=held, surrogate_id=surrogate_id, label=label, justification=justification[:2000], at=now
    )
    record(action="opinion_give", subject=opinion, now=now, actor_id=surrogate_id, scope_id=held.campaign_id)
    items_judge(items=items, version=found[0], policy=found[1], now=now)
    return opinion
