"""The data of the home page for managers: the state of their campaigns, and waiting decisions."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Subquery

from annotation.models import Campaign, ItemReport, Snapshot
from jobs.models import Job, JobState
from quality.dashboard.charts.campaign import outlook
from quality.dashboard.selectors.review_queue import ELSEWHERE, WAITING, elsewhere_of, waiting_name
from quality.models import QualitySnapshot

MOST = 20  # campaigns of which numbers are shown
DECIDED_ON = {"cases": "quality-experts", "inspections": "quality-inspect"}  # what has a page of its own
FAILED_DAYS, MOST_FAILED = 7, 100  # a failed job is news for so long


@dataclass(frozen=True, slots=True)
class CampaignCard:
    """A campaign on its manager's home page, with numbers that a job computed; amounts in cents."""

    campaign: Campaign
    done: int = 0
    wanted: int = 0
    items: int = 0  # imported for the dataset
    in_pilot: int = 0  # items of a pilot that runs
    ends_on: date | None = None
    committed: int = 0
    cap: int | None = None
    waiting: Sequence[tuple[str, int]] = ()
    reports: int = 0
    failed: Sequence[UUID] = ()  # jobs
    taken_at: datetime | None = None

    @property
    def decisions(self) -> int:
        """The number of things that wait for a decision, a repair or a retry."""
        return sum(count for _, count in self.waiting) + self.reports + len(self.failed)


class WaitingRow(NamedTuple):
    """The number of waiting decisions of one kind, and the address of their page; a total of 0 isn't known yet."""

    url: str
    name: str
    total: int


def waiting_rows(counts: Iterable[tuple[str, int]]) -> list[WaitingRow]:
    """Return rows to show for counts by kind."""
    return [
        WaitingRow(DECIDED_ON.get(what, "quality-decisions"), waiting_name(what, count), count)
        for what, count in counts
        if what in WAITING
    ]


@dataclass(frozen=True, slots=True)
class ReviewedElsewhere:
    """Decisions that wait on other pages than the review queue; ``rows`` has the counts of the last job."""

    rows: Sequence[WaitingRow]
    reports: int
    failed: Sequence[UUID]  # jobs

    def __bool__(self) -> bool:
        """Return whether anything waits."""
        return bool(self.rows or self.reports or self.failed)


def reviewed_elsewhere(campaign: Campaign, now: datetime) -> ReviewedElsewhere:
    """Return the decisions that wait on other pages than the review queue, in two statements."""
    reports = ItemReport.objects.filter(item__campaign=campaign, resolved_at=None).order_by()
    counted = Subquery(reports.values("item__campaign").annotate(n=Count("pk")).values("n"))
    counts = Subquery(QualitySnapshot.objects.filter(campaign=OuterRef("pk")).values("data__waiting"))
    asked = {"reports": counted, "counts": counts, **elsewhere_of(campaign)}
    rows: Any = Campaign.objects.filter(pk=campaign.pk)
    found = rows.values(**asked).get()
    waiting = [(what, (found["counts"] or {}).get(what, 0)) for what in ELSEWHERE if found[f"has_{what}"]]
    failed = _failed_jobs([campaign], now)[campaign.pk]
    return ReviewedElsewhere(waiting_rows(waiting), found["reports"] or 0, failed)


def campaign_cards(campaigns: Sequence[Campaign], now: datetime) -> list[CampaignCard]:
    """Return the cards of a manager's first campaigns, in four statements for any number of campaigns."""
    shown = list(campaigns[:MOST])
    work = {row["campaign_id"]: row for row in _kept(Snapshot, shown, "slots", "days", "splits", "pilot")}
    quality = {row["campaign_id"]: row for row in _kept(QualitySnapshot, shown, "waiting", "workforces")}
    reports = _counts(ItemReport.objects.filter(item__campaign__in=shown, resolved_at=None), "item__campaign")
    failed = _failed_jobs(shown, now)
    found = [
        _campaign_card(one, work.get(one.pk, {}), quality.get(one.pk, {}), reports.get(one.pk, 0), failed[one.pk], now)
        for one in shown
    ]
    return sorted(found, key=lambda one: one.decisions == 0)  # where something waits comes first, else as they came


def _campaign_card(
    campaign: Campaign,
    work: Mapping[str, Any],
    quality: Mapping[str, Any],
    reports: int,
    failed: list[UUID],
    now: datetime,
) -> CampaignCard:
    slots = work.get("data__slots") or {}
    forecast = outlook({"slots": slots, "days": work.get("data__days") or []}, now.date())
    ways = [
        row for row in quality.get("data__workforces") or [] if row["committed_cents"] or row["cap_cents"] is not None
    ]
    caps = [row["cap_cents"] for row in ways]
    return CampaignCard(
        campaign=campaign,
        done=slots.get("filled", 0),
        reports=reports,
        failed=failed,
        wanted=sum(count for state, count in slots.items() if state != "closed"),
        items=sum(row["items"] for row in work.get("data__splits") or []),
        in_pilot=(work.get("data__pilot") or {}).get("items", 0),
        ends_on=now.date() + timedelta(days=forecast.days) if forecast else None,
        committed=sum(row["committed_cents"] for row in ways),
        cap=sum(caps) if caps and None not in caps else None,
        waiting=sorted((quality.get("data__waiting") or {}).items()),
        taken_at=work.get("taken_at"),
    )


def _kept(model: Any, campaigns: Sequence[Campaign], *names: str) -> Any:
    return model.objects.filter(campaign__in=campaigns).values(
        "campaign_id", "taken_at", *(f"data__{name}" for name in names)
    )


def _counts(rows: Any, by: str) -> dict[UUID, int]:
    return dict(rows.order_by(by).values_list(by).annotate(n=Count("pk")))


def _failed_jobs(campaigns: Sequence[Campaign], now: datetime) -> dict[UUID, list[UUID]]:
    """Return the newest failed jobs of each campaign, without those followed by a successful one of the same kind."""
    jobs = Job.objects.filter(
        scope_id__in=[one.pk for one in campaigns], created_at__gt=now - timedelta(days=FAILED_DAYS)
    )
    later = Job.objects.filter(
        scope_id=OuterRef("scope_id"), kind=OuterRef("kind"), state=JobState.DONE, created_at__gt=OuterRef("created_at")
    )
    rows = jobs.filter(~Exists(later), state=JobState.FAILED).order_by("-created_at")
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for scope_id, pk in rows.values_list("scope_id", "pk")[:MOST_FAILED]:
        found[scope_id].append(pk)
    return found
