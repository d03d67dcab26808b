"""Experts' cases and opinions: their agreement before discussions, and the results of random samples."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from accounts.models import Membership, Role
from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import BLOCKING, Assignment, AssignmentState, Campaign
from annotation.tasktypes.base import Voted
from annotation.tasktypes.registry import TASK_TYPES
from measures.agreement import Level, alpha
from measures.judgments import judgments_of
from measures.reliability import wilson
from quality.models import Case, CaseReason, CaseState, Opinion, Phase

MOST = 50
DISCUSSION_DAYS = 7  # that experts have to agree; then a manager can decide
SEEN = (*BLOCKING, AssignmentState.UNDONE)  # of an assignment whose annotator saw the item


def cases_to_judge(*, campaign: Campaign, surrogate_id: UUID) -> QuerySet[Case]:
    """Return the open cases that this expert may judge: not judged by them yet, and of items they didn't annotate.

    Audits of items on which the expert gave any earlier opinion are excluded too: the label may be the expert's own.
    """
    own = Opinion.objects.filter(surrogate_id=surrogate_id)
    said_before = Exists(own.filter(case__item=OuterRef("item")))
    return (
        Case.objects.filter(unsealed(), campaign=campaign, state=CaseState.OPEN)
        .exclude(Exists(seen_by(surrogate_id).filter(item=OuterRef("item"))))
        .exclude(Exists(own.filter(case=OuterRef("pk"))))
        .exclude(said_before, because=CaseReason.AUDIT)
    )


def case_next(*, campaign: Campaign, surrogate_id: UUID, after: int = 0) -> Case | None:
    """Return the next case that this expert may judge."""
    rows = cases_to_judge(campaign=campaign, surrogate_id=surrogate_id).filter(pk__gt=after)
    return rows.select_related("item__tokenization__document", "campaign").order_by("pk").first()


def left_of(rows: QuerySet[Any]) -> dict[str, int]:
    """Return how many rows are left for a page that shows one after another; counted up to fifty."""
    return {"left": rows[: MOST + 1].count(), "most_counted": MOST}


@dataclass(frozen=True, slots=True)
class ExpertWork:
    """An expert's available work in a campaign; both numbers are capped at fifty."""

    campaign: Campaign
    cases: int
    discussions: int


def expert_work(*, campaign: Campaign, surrogate_id: UUID) -> ExpertWork:
    """Return the number of cases that an expert can judge, and of discussions they take part in."""
    discussed = cases_of_expert(campaign=campaign, surrogate_id=surrogate_id).filter(state=CaseState.CONSENSUS)
    return ExpertWork(
        campaign=campaign,
        cases=cases_to_judge(campaign=campaign, surrogate_id=surrogate_id)[:MOST].count(),
        discussions=discussed[:MOST].count(),
    )


def seen_by(surrogate_id: UUID) -> QuerySet[Assignment]:
    """Return the assignments of items that an annotator answered, skipped, or holds."""
    return Assignment.objects.filter(surrogate_id=surrogate_id, state__in=SEEN)


def cases_of_expert(*, campaign: Campaign, surrogate_id: UUID) -> QuerySet[Case]:
    """Return the cases whose opinions an expert may read: those they judged, once all requested opinions exist."""
    judged = Opinion.objects.filter(case__campaign=campaign, surrogate_id=surrogate_id, phase=Phase.BLIND)
    return Case.objects.filter(
        unsealed(), campaign=campaign, pk__in=judged.values("case"), state__in=[CaseState.CONSENSUS, CaseState.DECIDED]
    )


def opinions_of(case_ids: Collection[int | None]) -> tuple[dict[int, list[Opinion]], dict[int | None, Opinion]]:
    """Return by case the opinions that experts gave alone, in their order, and the opinion that decided it."""
    alone: dict[int, list[Opinion]] = defaultdict(list)
    deciding: dict[int | None, Opinion] = {}
    for row in Opinion.objects.filter(case__in=case_ids).select_related("case").order_by("pk"):
        if row.phase == Phase.BLIND:
            alone[row.case_id].append(row)
        if row.phase == Phase.CONSENSUS or row.case.experts == 1:
            deciding[row.case_id] = row
    return alone, deciding


def opinions_deciding(campaign: Campaign) -> QuerySet[Opinion]:
    """Return the opinions that decided a campaign's cases, of splits that aren't sealed, with their cases."""
    decides = Q(case__experts=1) | Q(phase=Phase.CONSENSUS)
    decided = Opinion.objects.filter(
        decides, unsealed("case__item"), case__campaign=campaign, case__state=CaseState.DECIDED
    )
    return decided.select_related("case").order_by("pk")


def proposal_of(case: Case) -> Opinion | None:
    """Return the latest consensus proposed to the experts of a case."""
    return case.opinions.filter(phase=Phase.PROPOSED).order_by("-pk").first()


def discussions_overdue(campaign: Campaign, now: datetime) -> QuerySet[Case]:
    """Return the cases whose experts haven't agreed in time, each with ``since``; a manager can decide them.

    Audits are excluded: only experts who don't see the labels judge those.
    """
    alone = Opinion.objects.filter(case=OuterRef("pk"), phase=Phase.BLIND).order_by("-at")
    cases = Case.objects.filter(unsealed(), campaign=campaign, state=CaseState.CONSENSUS)
    overdue = cases.exclude(because=CaseReason.AUDIT).annotate(since=Subquery(alone.values("at")[:1]))
    return overdue.filter(since__lt=now - timedelta(days=DISCUSSION_DAYS)).order_by("since", "pk")


def experts_here(campaign: Campaign) -> int:
    """Return the number of experts in a campaign."""
    return Membership.objects.filter(scope_id=campaign.pk, role=Role.EXPERT).count()


def cases_counted(campaign: Campaign) -> dict[str, int]:
    """Return the number of cases in each state."""
    rows = Case.objects.filter(campaign=campaign).values_list("state").order_by("state")
    counts = dict(rows.annotate(n=Count("pk")))
    return {state.value: counts.get(state.value, 0) for state in CaseState}


def experts_of(campaign: Campaign) -> dict[str, Any]:
    """Return the experts' numbers: agreement between opinions given alone, and the results of samples.

    The cost grows with the number of opinions: use it in jobs and commands, not in pages.
    """
    return {
        "agreement": _agreement(campaign),
        "sample": _sample(campaign),
    }


def _agreement(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the agreement of grades given alone, for each kind of part, over cases with several experts."""
    task_type = TASK_TYPES[campaign.task_type]
    is_nominal = isinstance(task_type, Voted) and not task_type.is_ordinal
    steps = {grade: step for step, grade in enumerate(task_type.grades)}
    alone = Opinion.objects.filter(
        unsealed("case__item"), case__campaign=campaign, phase=Phase.BLIND, case__experts__gt=1
    )
    # Opinions of a case that others still judge, or that was recalled before all had, are in no number.
    done = alone.filter(case__state__in=[CaseState.CONSENSUS, CaseState.DECIDED])
    rows = done.select_related("case").order_by("pk")
    said = defaultdict(list)
    for row in rows.iterator(chunk_size=2000):
        for part in row.case.parts:
            judged = (row.case_id, part["key"])
            said[part.get("what", part["key"])].append((judged, row.surrogate_id, steps[row.said[part["key"]]]))
    level = Level.NOMINAL if is_nominal else Level.ORDINAL
    return [{"what": what, **asdict(alpha(judgments_of(votes), level=level))} for what, votes in sorted(said.items())]


def _sample(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the share of each grade in decided samples, with 95% intervals, for each kind of part."""
    rows = opinions_deciding(campaign).filter(case__because=CaseReason.SAMPLE)
    counts: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows.iterator(chunk_size=2000):
        for part in row.case.parts:
            counts[part.get("what", part["key"])][row.said[part["key"]]] += 1
    grades = TASK_TYPES[campaign.task_type].grades
    return [
        {"what": what, "n": found.total(), "grades": [_share(grade, found[grade], found.total()) for grade in grades]}
        for what, found in sorted(counts.items())
    ]


def _share(grade: Any, count: int, of: int) -> dict[str, Any]:
    low, high = wilson(np.array([count / of]), np.array([of]))
    return {"grade": grade, "count": count, "share": count / of, "low": float(low[0]), "high": float(high[0])}
