"""The labels that an audit can draw, and the results of audits."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from accounts.models import Membership, Role
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import ORDINARY, Assignment, Campaign, ItemState
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES, voted
from measures.audits import Stratum, label_error
from measures.kappas import Weights, cohen_kappa
from measures.targets import belief_of
from quality.experts.selectors import SEEN, opinions_of
from quality.labels.selectors.votes import votes_in
from quality.models import Audit, AuditItem, CaseState, Opinion, Rule, TargetSnapshot, Verdict

UNKNOWN_DOUBT = 0.25  # of a label that no vote is known for


def labels_in_force(campaign: Campaign) -> QuerySet[Verdict]:
    """Return the labels that are audited or certified: of ordinary items in use, outside of sealed splits."""
    rows = Verdict.objects.filter(unsealed(), campaign=campaign, superseded_at=None)
    return rows.filter(item__state=ItemState.ACTIVE, item__batch__purpose__in=ORDINARY)


class Label(NamedTuple):
    """A label in force: its verdict, and the predicted probability that the label is wrong."""

    verdict: int
    item: int
    by_expert: bool
    doubt: float


def labels_of(campaign: Campaign) -> list[Label]:
    """Return the labels in force on ordinary items in order, each with its probability of being wrong by a vote model.

    Reads every annotation, so use it only in jobs.
    """
    rows = list(labels_in_force(campaign).order_by("item").values_list("pk", "item_id", "rule", "label"))
    votes = votes_in(campaign)
    if not len(votes):
        return [Label(pk, item, rule == Rule.EXPERT, UNKNOWN_DOUBT) for pk, item, rule, _label in rows]
    doubts, places = 1 - belief_of(votes).posterior, {item: place for place, item in enumerate(votes.items)}
    columns = {label: column for column, label in enumerate(votes.labels)}
    return [
        Label(
            pk,
            item,
            rule == Rule.EXPERT,
            float(doubts[places[item], columns[label]]) if item in places and label in columns else UNKNOWN_DOUBT,
        )
        for pk, item, rule, label in rows
    ]


def experts_able(campaign: Campaign, item_ids: Sequence[int], *, but_of: Audit | None = None) -> dict[int, set[UUID]]:
    """Return for each item the experts who may judge it in an audit: those who neither annotated nor judged it.

    Parameters
    ----------
    but_of
        An audit whose judgments are ignored.
    """
    members = Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT)
    experts = set(members.values_list("user__surrogate_id", flat=True))
    seen: dict[int, set[UUID]] = defaultdict(set)
    work = Assignment.objects.filter(campaign=campaign, surrogate__in=experts, item__in=item_ids)
    for item, who in work.filter(state__in=SEEN).values_list("item_id", "surrogate_id"):
        seen[item].add(who)
    said = Opinion.objects.filter(case__campaign=campaign, surrogate__in=experts, case__item__in=item_ids)
    said = said.exclude(case__audit_item__audit=but_of) if but_of else said
    for item, who in said.values_list("case__item_id", "surrogate_id"):
        seen[item].add(who)
    return {item: experts - seen[item] for item in item_ids}


def audits_of(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the audits of a campaign, the latest first. Reads every opinion, so use it only in jobs and releases."""
    if not isinstance(TASK_TYPES[campaign.task_type], Voted):
        return []
    calibrating = TargetSnapshot.objects.filter(campaign=campaign).values_list("calibration", flat=True).first()
    return [
        {**_result(audit), "calibrates": audit.pk == calibrating}
        for audit in Audit.objects.filter(campaign=campaign).order_by("-pk")
    ]


def audits_counted(campaign: Campaign) -> dict[str, int]:
    """Return the numbers of drawn and canceled audits, which show if audits were repeated until one was liked."""
    audits = Audit.objects.filter(campaign=campaign)
    return {"drawn": audits.count(), "called_off": audits.exclude(called_off_at=None).count()}


def label_error_of(campaign: Campaign) -> dict[str, Any] | None:
    """Return the latest finished audit, and the number of drawn and of canceled audits.

    An audit that calibrates purchases of votes is left out, because it doesn't measure the labels after them.
    """
    audits = audits_of(campaign)
    finished = [audit for audit in audits if "share" in audit and not audit["calibrates"]]
    if not finished:
        return None
    return {**finished[0], "audits": len(audits), "called_off": sum(audit["called_off"] for audit in audits)}


def _result(audit: Audit) -> dict[str, Any]:
    """Return the progress of an audit, and its estimate once experts have decided every item in it."""
    items = list(audit.items.select_related("verdict", "case").order_by("pk"))
    decided = {row.case_id: row for row in items if row.case is not None and row.case.state == CaseState.DECIDED}
    alone, deciding = opinions_of(decided)
    strata = [{**stratum, "judged": 0, "wrong": 0} for stratum in audit.strata]
    for case_id, row in decided.items():
        strata[row.stratum]["judged"] += 1
        strata[row.stratum]["wrong"] += deciding[case_id].label != row.verdict.label
    left_out = sum(row.is_left_out or (row.case is not None and row.case.state == CaseState.RECALLED) for row in items)
    found = {
        "audit": audit.pk,
        "seed": audit.seed,
        "drawn_at": audit.drawn_at.isoformat(timespec="seconds"),
        "called_off": audit.called_off_at is not None,
        "labels": sum(row["items"] for row in strata),
        "drawn": len(items),
        "judged": len(decided),
        "left_out": left_out,
        "strata": strata,
        "stuck": _stuck(audit, items),
        **changes_since(audit),
        "twice": sum(len(said) > 1 for said in alone.values()),
        "kappa": kappa_of(audit.campaign, alone.values()),
    }
    is_over = len(decided) + left_out == len(items) and not found["called_off"]
    if is_over and all(row["judged"] for row in strata):
        found |= asdict(label_error([Stratum(row["items"], row["judged"], row["wrong"]) for row in strata]))
    return found


class Judged(NamedTuple):
    """A label that experts judged in an audit: its item, what they say it is, and how many items it stands for."""

    item: int
    label: Any
    stands_for: float


def judged_in(audit: Audit) -> list[Judged]:
    """Return what experts decided in an audit about labels that were from votes when it was drawn."""
    rows = (
        audit.items.filter(case__state=CaseState.DECIDED, doubt__isnull=False).select_related("verdict").order_by("pk")
    )
    decided = {row.case_id: row for row in rows}
    _alone, deciding = opinions_of(decided)
    judged = Counter(row.stratum for row in decided.values())
    return [
        Judged(row.verdict.item_id, deciding[case_id].label, audit.strata[row.stratum]["items"] / judged[row.stratum])
        for case_id, row in decided.items()
    ]


def _stuck(audit: Audit, items: Collection[AuditItem]) -> int:
    """Return the number of items that need more judgments than there are experts allowed to give them."""
    waiting = [row for row in items if row.case is not None and row.case.state == CaseState.OPEN]
    able = experts_able(audit.campaign, [row.verdict.item_id for row in waiting], but_of=audit)
    return sum(len(able[row.verdict.item_id]) < row.experts for row in waiting)


def changes_since(audit: Audit) -> dict[str, int]:
    """Return the number of drawn labels that have changed or gone since (``changed_since``), and of new labels.

    Labels of retired items are gone, even though nobody changed them.
    """
    then = in_force_at(audit.drawn_at).filter(campaign=audit.campaign_id, item__batch__purpose__in=ORDINARY)
    there = then.filter(item__state=ItemState.ACTIVE)
    now = Verdict.objects.filter(item=OuterRef("item"), superseded_at=None)
    superseded = there.exclude(superseded_at=None).annotate(now=Subquery(now.values("label")[:1]))
    new = Verdict.objects.filter(campaign=audit.campaign_id, superseded_at=None, decided_at__gt=audit.drawn_at)
    retired = sum(stratum["items"] for stratum in audit.strata) - there.values("item").distinct().count()
    return {
        "changed_since": sum(before != after for before, after in superseded.values_list("label", "now"))
        + max(0, retired),
        "new_since": new.exclude(Exists(in_force_at(audit.drawn_at).filter(item=OuterRef("item")))).count(),
    }


def in_force_at(at: datetime) -> QuerySet[Verdict]:
    """Return the labels in force at a moment."""
    return Verdict.objects.filter(Q(superseded_at=None) | Q(superseded_at__gt=at), decided_at__lte=at)


def kappa_of(campaign: Campaign, alone: Iterable[Sequence[Opinion]]) -> float | None:
    """Return Cohen's kappa between the two experts of each item, from the opinions that they gave alone.

    The weights are quadratic if the labels are steps of a scale. Each pair is entered in both orders, because neither
    expert is the reference.
    """
    task_type = voted(campaign.task_type)
    pairs = [[one.label for one in said[:2]] for said in alone if len(said) > 1]
    weights = Weights.QUADRATIC if task_type.is_ordinal else Weights.IDENTITY
    first = [one for one, _other in pairs] + [other for _one, other in pairs]
    second = [other for _one, other in pairs] + [one for one, _other in pairs]
    found = cohen_kappa(first, second, task_type.labels, weights)
    return None if found is None else round(found, 3)
