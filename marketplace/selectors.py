"""Queries for lists and pages. Their cost depends on the rows shown, not on the table sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db import connection
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.expressions import RawSQL

from database.statements import Statement
from marketplace.models import Assignment, Bonus, Hit, HitType, QualificationType, Requester, Worker, WorkerBlock
from marketplace.models.hits import LIVE
from marketplace.protocol import requirements
from marketplace.services.standing import worker_values

SORTS = {"newest": ["-pk"], "reward": ["-reward", "-pk"], "short": ["assignment_seconds", "-pk"]}
GROUPS_A_PAGE = 20
COUNTED_TO = 100
DECISIONS_LOOKED_AT = 1000
_CHUNK = 100
_MOST_SCANNED = 5_000
# The HITs of a type that a worker could still take, as ``open_hits`` says: three times in the one statement of the list,
# each time along the index of the open ones. Takes the time and the worker.
_LIVE = ", ".join(f"'{state}'" for state in LIVE)
_OPEN = f"""FROM marketplace_hit AS hit WHERE hit.hit_type_id = marketplace_hittype.id AND hit.state = '{Hit.State.ASSIGNABLE}'
AND hit.expires_at > %s AND NOT EXISTS (SELECT 1 FROM marketplace_assignment AS mine
WHERE mine.hit_id = hit.id AND mine.worker_id = %s AND mine.state IN ({_LIVE}))"""  # noqa: S608 - constants
_FIRST = f"SELECT hit.hit_id {_OPEN} ORDER BY hit.expires_at, hit.id LIMIT 1"
_AVAILABLE = f"SELECT count(*) FROM (SELECT 1 {_OPEN} LIMIT {COUNTED_TO + 1}) AS counted"  # noqa: S608 - constants
_SOONEST = ("expires_at", "pk")  # who takes these first lets fewer HITs expire


@dataclass(frozen=True)
class Need:
    """One requirement of a HIT type, as shown to a worker."""

    name: str
    comparator: str
    wanted: str
    is_met: bool
    held: str
    requestable: QualificationType | None


@dataclass(frozen=True)
class Group:
    """HITs of one type that are open to a worker."""

    hit_type: HitType
    hit_id: str
    available: int
    is_qualified: bool

    @property
    def shown_available(self) -> str:
        """Return the number of HITs as text, capped at a limit."""
        return f"{COUNTED_TO}+" if self.available > COUNTED_TO else str(self.available)


@dataclass(frozen=True)
class Standing:
    """A requester's recent decisions."""

    decided: int
    approved: int
    median_hours: float | None

    @property
    def percent(self) -> int | None:
        """Return the approval rate in percent."""
        return round(100 * self.approved / self.decided) if self.decided else None


def search_words(text: str) -> list[str]:
    """Return the words to search for: only the first few, since each word adds cost."""
    return text[:200].split()[:6]


def open_hits(worker: Worker, now: datetime) -> QuerySet[Hit]:
    """Return the HITs that a worker could still accept, qualified or not."""
    return _open_query(worker.pk, now)


def _open_query(worker: int, now: datetime) -> QuerySet[Hit]:
    mine = Assignment.objects.filter(hit=OuterRef("pk"), worker_id=worker, state__in=LIVE)
    return Hit.objects.filter(state=Hit.State.ASSIGNABLE, expires_at__gt=now).exclude(Exists(mine))


def _next_query(worker: int, now: datetime, group_id: str) -> QuerySet[Hit]:
    rows = _open_query(worker, now).filter(hit_type__group_id=group_id)
    return rows.select_related("hit_type__requester").order_by(*_SOONEST)[:1]


_NEXT = Statement(_next_query, int, datetime, str)


def groups(
    worker: Worker,
    *,
    now: datetime,
    search: str = "",
    least: Decimal | None = None,
    sort: str = "newest",
    qualified_only: bool = False,
    page: int = 0,
) -> tuple[list[Group], bool]:
    """Return a page of groups, and whether there are more groups."""
    listed = _open_types(worker, now)
    for word in search_words(search):
        listed = listed.filter(
            Q(title__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    if least is not None:
        listed = listed.filter(reward__gte=least)
    values = worker_values(worker)
    rows = listed.select_related("requester").order_by(*SORTS[sort])
    visible = _visible(rows, values, qualified_only=qualified_only)
    found = list(islice(visible, page * GROUPS_A_PAGE, (page + 1) * GROUPS_A_PAGE + 1))
    return found[:GROUPS_A_PAGE], len(found) > GROUPS_A_PAGE


def next_hit(worker: Worker, group_id: str, now: datetime) -> Hit | None:
    """Return the HIT of a group that expires first, among those that the worker hasn't accepted before."""
    found: Hit | None = _NEXT.first(worker.pk, now, group_id)
    return found


def accepted_after(assignment: Assignment) -> Assignment | None:
    """Return the HIT of the same group that the worker accepted first after submitting this one, and still holds."""
    rows = Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker")
    return (
        rows.filter(
            worker_id=assignment.worker_id,
            state=Assignment.State.ACCEPTED,
            accepted_at__gte=assignment.submitted_at,
            hit__hit_type__group_id=assignment.hit.hit_type.group_id,
        )
        .order_by("pk")
        .first()
    )


def needs(worker: Worker, hit_type: HitType) -> list[Need]:
    """Return the requirements of a HIT type with the worker's values."""
    values = worker_values(worker) if hit_type.requirements else {}
    ids = [one["QualificationTypeId"] for one in hit_type.requirements]
    types = {
        kind.qualification_type_id: kind for kind in QualificationType.objects.filter(qualification_type_id__in=ids)
    }
    return [_need(one, values, types.get(one["QualificationTypeId"])) for one in hit_type.requirements]


def requester_standing(requester: Requester) -> Standing:
    """Return the outcomes and durations of a requester's recent decisions."""
    states = (Assignment.State.APPROVED, Assignment.State.REJECTED)
    rows: list[tuple[str, Any, Any, Any]] = []
    for state in states:
        decided = requester.assignments.filter(state=state).order_by("-pk")
        rows += decided.values_list("state", "submitted_at", "approved_at", "rejected_at")[:DECISIONS_LOOKED_AT]
    hours = sorted(((approved or rejected) - sent).total_seconds() / 3600 for _, sent, approved, rejected in rows)
    approved = sum(state == Assignment.State.APPROVED for state, *_ in rows)
    return Standing(
        decided=len(rows),
        approved=approved,
        median_hours=hours[len(hours) // 2] if hours else None,
    )


def earnings_total(worker: Worker) -> dict[str, Decimal]:
    """Return a worker's rewards, bonuses, and pending pay, in dollars."""
    rewards = worker.assignments.filter(state=Assignment.State.APPROVED).aggregate(sum=Sum("reward"))["sum"]
    waiting = worker.assignments.filter(state=Assignment.State.SUBMITTED).aggregate(sum=Sum("reward"))["sum"]
    bonuses = Bonus.objects.filter(worker=worker).aggregate(sum=Sum("amount"))["sum"]
    nothing = Decimal("0.00")
    return {"rewards": rewards or nothing, "bonuses": bonuses or nothing, "waiting": waiting or nothing}


def work_done(worker: Worker, *, before: int | None, size: int = 25) -> list[Assignment]:
    """Return a worker's submitted work, newest first."""
    rows = worker.assignments.exclude(state__in=["Accepted", "Returned", "Abandoned"])
    if before is not None:
        rows = rows.filter(pk__lt=before)
    return list(rows.select_related("hit__hit_type", "requester").prefetch_related("bonuses").order_by("-pk")[:size])


def _open_types(worker: Worker, now: datetime) -> QuerySet[HitType]:
    """Return HIT types that a worker could still accept HITs of, with the next HIT and the (capped) number of HITs."""
    given = (connection.ops.adapt_datetimefield_value(now), worker.pk)
    first = RawSQL(_FIRST, given, CharField())  # noqa: S611 - a constant
    available = RawSQL(_AVAILABLE, given)  # noqa: S611 - a constant
    blocked = WorkerBlock.objects.filter(requester=OuterRef("requester"), worker=worker)
    return HitType.objects.annotate(next_hit_id=first, available=available).filter(
        ~Exists(blocked), next_hit_id__isnull=False
    )


def _visible(rows: QuerySet[HitType], values: dict[str, Any], *, qualified_only: bool) -> Iterator[Group]:
    for kind in _scanned(rows):
        if requirements.unmet(kind.requirements, values, "Discover"):
            continue
        qualified = not requirements.unmet(kind.requirements, values, "Accept")
        if qualified or not qualified_only:
            yield Group(kind, kind.next_hit_id, kind.available, qualified)  # type: ignore[attr-defined]  # annotated


def _scanned(rows: QuerySet[HitType]) -> Iterator[HitType]:
    """Yield rows chunk by chunk: skipped rows must not hide the visible rows after them."""
    start, size = 0, GROUPS_A_PAGE + 1
    while start < _MOST_SCANNED:
        chunk = list(rows[start : start + size])
        yield from chunk
        if len(chunk) < size:
            return
        start, size = start + size, _CHUNK


def _need(given: dict[str, Any], values: dict[str, Any], kind: QualificationType | None) -> Need:
    type_id = given["QualificationTypeId"]
    locales = [
        "-".join(filter(None, (one["Country"], one.get("Subdivision")))) for one in given.get("LocaleValues") or []
    ]
    held = values.get(type_id)
    return Need(
        name=kind.name if kind else type_id,
        comparator=given["Comparator"],
        wanted=", ".join([*map(str, given.get("IntegerValues") or []), *locales]),
        is_met=requirements.is_met(given, values),
        held="-".join(filter(None, held)) if isinstance(held, tuple) else "" if held is None else str(held),
        requestable=kind if kind and kind.is_requestable and kind.is_active and not kind.deleted_at else None,
    )
