"""Audits: labels are frozen and drawn at random, and experts judge the items without knowing the labels."""

from collections.abc import Sequence
from datetime import datetime
from math import ceil
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit import record
from annotation.models import Campaign, ItemState
from annotation.slots.ordering import seeded
from database.transactions import durable
from jobs.services import job_enqueue
from jobs.work import Work
from measures.audits import LEAST, allocation, spread, strata_by_doubt
from quality.experts.services.cases import case_end, case_open, parts_of
from quality.labels.selectors.audits import Label, experts_able, labels_of
from quality.labels.services.verdicts import items_judge, items_lock
from quality.models import PENDING, Audit, AuditItem, Case, CaseReason, CaseState
from quality.payloads import AuditPayload
from quality.policies.services import policy_ensure
from web.errors import KeyedError

CHUNK = 50
MOST = 2_000  # items of one audit
LEAST_TWICE = 0.2  # of the items, judged by two experts


class AuditError(KeyedError):
    """Labels can't be audited as requested."""


def audit_draw(*, work: Work, campaign: Campaign, count: int, twice: float, seed: int | None) -> dict[str, Any]:
    """Draw an audit of the labels in force and send it to the experts; return its key and the number of drawn labels.

    Parameters
    ----------
    seed
        For replays and tests; None for one that nobody can choose, see `_seed`.

    Raises
    ------
    AuditError
        Too few labels are in force, or the experts are judging a drawn item for another reason.
    """
    audit = Audit.objects.filter(pk=work.job.result.get("audit")).first()
    if audit is None:
        audit = _drawn(work, campaign, count, twice, seed)
    waiting = audit.items.filter(case=None, is_left_out=False).select_related("verdict").order_by("pk")
    opened = True
    while opened:
        with work.step():
            held = Audit.objects.select_for_update(no_key=True).get(pk=audit.pk)
            chunk = [] if held.called_off_at else list(waiting[:CHUNK])
            _cases_open(chunk, held, timezone.now())
        opened = bool(chunk)
    return {"audit": audit.pk, "drawn": audit.items.count()}


def _drawn(work: Work, campaign: Campaign, count: int, twice: float, asked: int | None) -> Audit:
    """Freeze the labels and draw a sample."""
    now, labels = timezone.now(), labels_of(campaign)
    seed = _seed(campaign) if asked is None else asked
    if len(labels) < LEAST:
        raise AuditError("audit_too_few", labels=len(labels), least=LEAST)
    strata = _strata(labels)
    sizes = [len(stratum) for stratum in strata]
    doubts = [np.array([label.doubt for label in stratum]) for stratum in strata]
    drawn = allocation(sizes, [float(spread(one).mean()) for one in doubts], count)
    rows: list[tuple[Label, int]] = []
    for place, (stratum, n) in enumerate(zip(strata, drawn, strict=True)):
        chosen = sorted(stratum, key=lambda label: seeded(seed, "audit", str(label.item)))[:n]
        rows += [(label, place) for label in chosen]
    rows.sort(key=lambda row: seeded(seed, "audit order", str(row[0].item)))  # an expert's queue tells nothing of doubt
    experts = _experts(campaign, [label.item for label, _place in rows], ceil(twice * len(rows)))
    _refuse_pending([label.item for label, _place in rows])
    described = [
        {
            "items": len(stratum),
            "drawn": n,
            "by_expert": stratum[0].by_expert,
            "doubt": None if stratum[0].by_expert else round(float(one.mean()), 4),
        }
        for stratum, n, one in zip(strata, drawn, doubts, strict=True)
    ]
    with work.step():
        audit = Audit.objects.create(
            campaign=campaign, seed=seed, strata=described, drawn_at=now, drawn_by_id=work.job.requested_by_id
        )
        AuditItem.objects.bulk_create(
            AuditItem(
                audit=audit,
                verdict_id=label.verdict,
                stratum=place,
                experts=experts[label.item],
                doubt=None if label.by_expert else label.doubt,
            )
            for label, place in rows
        )
        record(
            action="audit_draw",
            subject=audit,
            now=now,
            actor_id=work.job.requested_by_id,
            scope_id=campaign.pk,
            items=len(rows),
            seed=seed,
        )
        work.checkpoint(audit=audit.pk)
    return audit


def _seed(campaign: Campaign) -> int:
    """Return the seed of a campaign's next audit, which only this server can compute.

    People who know some wrong labels could try seeds until the sample holds few of them. A draw that is refused because of
    the items in it gets the same seed again, so nobody can repeat it until it leaves those items out.
    """
    number = Audit.objects.filter(campaign=campaign).count()
    digest = salted_hmac("quality.audit", f"{campaign.pk}:{number}", algorithm="sha256").digest()
    return int.from_bytes(digest[:8]) >> 1  # what a database's integer holds


def _strata(labels: Sequence[Label]) -> list[list[Label]]:
    """Return the labels by stratum: labels from votes are grouped by doubt, and labels from experts form their own."""
    voted = [label for label in labels if not label.by_expert]
    by_expert = [label for label in labels if label.by_expert]
    strata: list[list[Label]] = []
    if voted:
        places = strata_by_doubt(np.array([label.doubt for label in voted]))
        strata = [[voted[n] for n in np.flatnonzero(places == place)] for place in range(int(places.max()) + 1)]
    return [*strata, by_expert] if by_expert else strata


def _experts(campaign: Campaign, item_ids: list[int], twice: int) -> dict[int, int]:
    """Return the number of experts for each item: two for the first ``twice`` items that allow it, one for the others.

    Raises
    ------
    AuditError
        An item has no allowed expert, or too few items have two. An audit that can't end is never started.
    """
    able = experts_able(campaign, item_ids)
    nobody = sum(not able[item] for item in item_ids)
    two = [item for item in item_ids if len(able[item]) > 1][:twice]
    if nobody:
        raise AuditError("audit_expert_for_each", n=nobody)
    if len(two) < twice:
        raise AuditError("audit_two_experts", wanted=twice, possible=len(two))
    return dict.fromkeys(item_ids, 1) | dict.fromkeys(two, 2)


def _refuse_pending(item_ids: list[int]) -> None:
    """Refuse a draw with items that experts are judging for another reason.

    Leaving those items out would bias the sample.
    """
    pending = Case.objects.filter(item__in=item_ids, state__in=PENDING).count()
    if pending:
        raise AuditError("drawn_before_experts", n=pending)


def _cases_open(rows: Sequence[AuditItem], audit: Audit, now: datetime) -> None:
    """Open cases for drawn items. Items retired meanwhile, or already in another case, are left out."""
    items = {item.pk: item for item in items_lock([row.verdict.item_id for row in rows])}
    for row in rows:
        item = items[row.verdict.item_id]
        opened = item.state == ItemState.ACTIVE and case_open(
            item=item,
            because=CaseReason.AUDIT,
            experts=row.experts,
            parts=parts_of(item),
            actor_id=audit.drawn_by_id,
            now=now,
        )
        row.case = Case.objects.get(item=item, state__in=PENDING) if opened else None
        row.is_left_out = not opened
        row.save(update_fields=["case", "is_left_out"])


@durable
def audit_call_off(*, audit: Audit, actor_id: UUID, now: datetime) -> bool:
    """End an audit without a result; return whether it was still open. The draw stays on record."""
    held = Audit.objects.select_for_update(no_key=True).get(pk=audit.pk)
    cases = Case.objects.filter(audit_item__audit=held, state__in=PENDING)
    unopened = held.items.filter(case=None, is_left_out=False)
    if held.called_off_at is not None or not (cases.exists() or unopened.exists()):
        return False
    Audit.objects.filter(pk=held.pk).update(called_off_at=now)
    job_enqueue(
        kind="quality.audit_recall",
        payload=AuditPayload(audit=held.pk),
        now=now,
        scope_id=held.campaign_id,
        requested_by_id=actor_id,
        key=f"audit-recall:{held.pk}",
    )
    record(action="audit_call_off", subject=held, now=now, actor_id=actor_id, scope_id=held.campaign_id)
    return True


def audit_recall(*, work: Work, audit: Audit) -> dict[str, Any]:
    """Recall the items of a canceled audit from the experts."""
    cases = Case.objects.filter(audit_item__audit=audit, state__in=PENDING)
    cases_recall(work=work, campaign=audit.campaign, cases=cases)
    return {}


def cases_recall(*, work: Work, campaign: Campaign, cases: QuerySet[Case]) -> None:
    """Recall pending cases of one campaign from the experts, a few per transaction, and update their items' verdicts."""
    version, policy = policy_ensure(campaign=campaign, now=timezone.now())
    recalled = True
    while recalled:
        with work.step():
            items = items_lock(cases.order_by("item").values_list("item", flat=True)[:CHUNK])
            for case in cases.filter(item__in=items):
                case_end(case=case, to=CaseState.RECALLED, now=timezone.now())
            items_judge(items=items, version=version, policy=policy, now=timezone.now())
        recalled = bool(items)
