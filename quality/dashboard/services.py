"""The numbers of quality control, computed by a job so that pages don't count rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum, TextField
from django.db.models.functions import Cast, Substr

from accounts.models import Role
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.services.numbers import numbers_keep, numbers_request, numbers_version, refresh_request
from annotation.models import ORDINARY, Batch, BatchState, Campaign, CampaignState, NotificationKind, Slot, SlotState
from annotation.notifications.services import members, notify_daily
from database.transactions import durable
from jobs.events import event_add
from jobs.models import Job
from measures.funnel import outside
from quality.dashboard.selectors.agreement import agreement_of
from quality.dashboard.selectors.review_queue import ELSEWHERE, waiting_of
from quality.dashboard.selectors.summary import people_of, summary_of
from quality.experts.selectors import experts_of
from quality.follow_ups.selectors import follow_ups_of
from quality.gold.selectors import FEW_NEWCOMERS, gold_of
from quality.labels.selectors.audits import audits_of
from quality.models import GoldCheck, GoldKeyState, Inspection, Opinion, QualitySnapshot, Verdict
from quality.people.selectors.pay import wages_of
from quality.policies.policy import Policy
from quality.policies.selectors import policy_current
from workforces.kinds.registry import KINDS
from workforces.models import LedgerEntry, Workforce
from workforces.services.pay import committed_cents
from workforces.services.terms import terms_of

STALE_SECONDS = 10
STALE_MINUTES, MOST_DUE = 5, 3
FORM = "8"  # of what is kept: numbers in another form are computed again


def quality_numbers_refresh(*, campaign: Campaign, now: datetime) -> dict[str, Any]:
    """Compute and store the numbers."""
    sealed = sealed_names(campaign)
    version, found = quality_numbers_version(campaign), policy_current(campaign)
    people = people_of(campaign)
    rounds, workforces = _rounds(campaign), [_workforce(row) for row in campaign.workforces.order_by("pk")]
    data = {
        "summary": asdict(summary_of(campaign)),
        "rounds": rounds,
        **agreement_of(campaign),
        "experts": experts_of(campaign),
        "audits": audits_of(campaign),
        "gold": gold_of(campaign, found[1] if found else Policy()),
        "waiting": waiting_of(campaign),
        "follow_ups": follow_ups_of(campaign),
        "wages": wages_of(campaign),
        "spent": _spent_by_day(campaign),
        "workforces": workforces,
        "money": _money(campaign, rounds, workforces),
        "people": [{**row, "surrogate_id": str(row["surrogate_id"])} for row in people],
        "outside": outside(
            (str(row["surrogate_id"]), row["checks"], row["checks"] - row["hits"]) for row in people if row["checks"]
        ),
    }
    managers_tell(campaign, data["waiting"], data["gold"], now)
    events_tell(campaign, data, now)
    numbers_keep(QualitySnapshot, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=data)
    return data


@durable
def managers_tell(campaign: Campaign, waiting: Mapping[str, int], gold: Mapping[str, Any], now: datetime) -> None:
    """Email managers about pending decisions or a shortage of gold questions: at most one email per day for each."""
    if campaign.state not in (CampaignState.OPEN, CampaignState.PAUSED):
        return
    managers = members(campaign, Role.MANAGER)
    decisions = sum(count for what, count in waiting.items() if what not in ELSEWHERE)
    if decisions:
        notify_daily(campaign=campaign, kind=NotificationKind.REVIEW, users=managers, now=now, count=decisions)
    if gold["states"][GoldKeyState.ACTIVE] and gold["newcomers_left"] < FEW_NEWCOMERS:
        count = gold["newcomers_left"]
        notify_daily(campaign=campaign, kind=NotificationKind.GOLD, users=managers, now=now, count=count)


BUDGET_SHARE = 0.8  # of a spending cap
_UNFINISHED = (SlotState.OPEN, SlotState.HELD, SlotState.ASIDE)


@durable
def events_tell(campaign: Campaign, data: Mapping[str, Any], now: datetime) -> None:
    """Add the events that follow from numbers, each once: finished batches and audits, short gold, spent budgets."""
    for kind, key, told in _news(campaign, data, now):
        event_add(kind=kind, scope_id=campaign.pk, now=now, key=f"{kind}:{key}", **told)


def _news(campaign: Campaign, data: Mapping[str, Any], now: datetime) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield kind, key and data of the events that follow from the numbers."""
    gold = data["gold"]
    if gold["states"][GoldKeyState.ACTIVE] and gold["newcomers_left"] < FEW_NEWCOMERS:
        yield "gold.short", f"{now:%Y-%m-%d}", {"newcomers_left": gold["newcomers_left"]}
    for audit in data["audits"]:
        if "share" in audit:
            yield "audit.finished", str(audit["audit"]), {"audit": audit["audit"]}
    for number, row in enumerate(data["workforces"]):
        cap, spent = row["cap_cents"], row["committed_cents"]
        if cap and spent >= BUDGET_SHARE * cap:
            told = {"workforce": row["kind"], "committed_cents": spent, "cap_cents": cap, "currency": "USD"}
            yield "budget.reached", f"{number}:{cap}", told
    unfinished = Slot.objects.filter(item__batch=OuterRef("pk"), state__in=_UNFINISHED)
    launched = Batch.objects.filter(campaign=campaign, state=BatchState.OPEN, purpose__in=ORDINARY)
    for batch in launched.filter(~Exists(unfinished)).order_by("ordinal"):
        yield "batch.finished", str(batch.ordinal), {"batch": batch.ordinal}


def quality_numbers_version(campaign: Campaign) -> str:
    """Return a text that changes whenever the numbers may have changed, read from indexes."""
    last = [
        Verdict.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", flat=True).first(),
        GoldCheck.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", flat=True).first(),
        LedgerEntry.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", flat=True).first(),
        Opinion.objects.filter(case__campaign=campaign).order_by("-pk").values_list("pk", flat=True).first(),
        Inspection.objects.filter(campaign=campaign, verdict="").order_by("-pk").values_list("pk", flat=True).first(),
    ]
    return "-".join([FORM, numbers_version(campaign), *(str(part or 0) for part in last)])


def quality_numbers_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Queue a job for new numbers if something changed, but not within seconds after the last ones."""
    return refresh_request(
        kind="quality.numbers",
        kept=QualitySnapshot.objects.all(),
        version=quality_numbers_version,
        seconds=STALE_SECONDS,
        campaign=campaign,
        now=now,
    )


def numbers_due(now: datetime) -> None:
    """Queue jobs for numbers of open campaigns that are older than a few minutes, for the home page.

    Only a few campaigns are chosen at a time, at random, so that campaigns without changes don't block the others.
    """
    fresh = QualitySnapshot.objects.filter(campaign=OuterRef("pk"), taken_at__gt=now - timedelta(minutes=STALE_MINUTES))
    for campaign in Campaign.objects.filter(~Exists(fresh), state=CampaignState.OPEN).order_by("?")[:MOST_DUE]:
        numbers_request(campaign=campaign, now=now)
        quality_numbers_request(campaign=campaign, now=now)


def _rounds(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the progress of each round of each batch."""
    slots = Slot.objects.filter(campaign=campaign, item__batch__purpose__in=ORDINARY)
    rows = (
        slots.values("item__batch__ordinal", "round")
        .annotate(
            open=Count("pk", filter=Q(state="open")),
            held=Count("pk", filter=Q(state="held")),
            filled=Count("pk", filter=Q(state="filled")),
        )
        .order_by("item__batch__ordinal", "round")
    )
    return [
        {"batch": row["item__batch__ordinal"], **{name: row[name] for name in ("round", "open", "held", "filled")}}
        for row in rows
    ]


def _spent_by_day(campaign: Campaign) -> list[tuple[str, int]]:
    """Return (day, cents with fees) in order. Days are text, since SQLite would call Python for each row's date."""
    rows = LedgerEntry.objects.filter(campaign=campaign).annotate(day=Substr(Cast("at", TextField()), 1, 10))
    return list(rows.values_list("day").annotate(cents=Sum("cents") + Sum("fee_cents")).order_by("day"))


def _money(
    campaign: Campaign, rounds: Sequence[Mapping[str, Any]], workforces: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return paid cents with fees, committed cents including these, and the forecast cost of all annotations."""
    paid = LedgerEntry.objects.filter(campaign=campaign).aggregate(cents=Sum("cents"), fees=Sum("fee_cents"))
    paid_cents = (paid["cents"] or 0) + (paid["fees"] or 0)
    done, left = (sum(row[state] for row in rounds for state in states) for states in (["filled"], ["open", "held"]))
    caps = [row["cap_cents"] for row in workforces]
    return {
        "paid_cents": paid_cents,
        "committed_cents": sum(row["committed_cents"] for row in workforces),
        "cap_cents": None if None in caps else sum(caps),
        "forecast_cents": paid_cents + round(paid_cents * left / done) if done else None,
    }


def _workforce(row: Workforce) -> dict[str, Any]:
    terms = terms_of(row)
    return {
        "kind": row.kind,
        "kind_label": row.title,
        "confirms": KINDS[row.kind].confirms,
        "problem": row.problem,
        "stopped": row.spent_stop,
        "cap_cents": terms.cap_cents,
        "floor_cents": terms.floor_cents_per_hour,
        "committed_cents": committed_cents(row),
        "postings": row.postings.exclude(state="settled").count(),
    }
