"""The numbers of a campaign, computed by a job so that pages don't have to count."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import CharField, Count, Max, Q, QuerySet, TextField
from django.db.models.functions import Cast, Coalesce

from accounts.models import AuditEvent
from annotation.campaigns.selectors.sealing import sealed_names
from annotation.campaigns.snapshot import CampaignNumbers, PersonNumbers, PilotNumbers, SplitNumbers, WorkNumbers
from annotation.locks import campaign_lock
from annotation.models import (
    ORDINARY,
    Annotation,
    AnnotationState,
    BatchState,
    Campaign,
    Item,
    ItemState,
    Purpose,
    Slot,
    SlotState,
    Snapshot,
)
from annotation.slots.selectors.met_by_all import slots_met_by_all
from annotation.tasktypes.registry import TASK_TYPES
from jobs.models import Job, JobState
from jobs.payloads import CampaignPayload
from jobs.services import job_enqueue, job_failed_lately

SHAPE = 3  # of what is kept: another number has all campaigns counted again
STALE_SECONDS = 10
PART = 10  # what is computed again and again takes a tenth of a worker's time at most
MOST_KEPT = 50_000  # answers that are parsed once
DAY = len("2026-01-31")
NO_STAGES = "{}"
COUNTED, LATE = AnnotationState.COUNTED.value, AnnotationState.LATE.value  # compared for each row
MOST_REST = timedelta(hours=1)  # machines sleep, and clocks jump


def numbers_refresh(*, campaign: Campaign, now: datetime) -> CampaignNumbers:
    """Compute and store the numbers; pilot batches are excluded, except where annotators see how much work there is."""
    sealed = sealed_names(campaign)
    version = numbers_version(campaign)
    slots, pilot = _slots_by_state(campaign), _pilot(campaign)
    data: CampaignNumbers = {
        "slots": slots,
        "injected_share": _injected_share(campaign, slots.get(SlotState.FILLED, 0) + pilot["filled"]),
        "pilot": pilot,
        "met_by_all": slots_met_by_all(campaign),
        "splits": _splits(campaign),
        **_work_numbers(campaign),
    }
    numbers_keep(Snapshot, campaign=campaign, sealed=sealed, taken_at=now, version=version, data=data)
    return data


def numbers_keep(model: type[Any], *, campaign: Campaign, sealed: list[str], **kept: Any) -> bool:
    """Store computed numbers of a campaign, unless a split was sealed meanwhile: they would reveal its labels.

    Parameters
    ----------
    sealed
        The names of the splits that were sealed when the computation began.
    """
    with transaction.atomic():
        campaign_lock(campaign)
        if sealed_names(campaign) != sealed:
            return False
        model.objects.update_or_create(campaign=campaign, defaults=kept)
    return True


def numbers_version(campaign: Campaign) -> str:
    """Return a text that changes whenever the numbers may: from the last annotation, audit event, item and claim.

    Takes four index lookups, whatever the size of the campaign.
    """
    last = [
        SHAPE,
        Annotation.objects.filter(campaign=campaign).aggregate(last=Max("pk"))["last"],
        AuditEvent.objects.filter(scope_id=campaign.pk).aggregate(last=Max("pk"))["last"],
        Item.objects.filter(campaign=campaign).order_by("-pk").values_list("pk", flat=True).first(),
        Slot.objects.filter(campaign=campaign, state=SlotState.HELD).count(),
    ]
    return "-".join(str(part or 0) for part in last)


def numbers_request(*, campaign: Campaign, now: datetime) -> Job | None:
    """Request fresh numbers if something changed since the stored ones and those are older than a few seconds."""
    return refresh_request(
        kind="annotation.numbers",
        kept=Snapshot.objects.all(),
        version=numbers_version,
        seconds=STALE_SECONDS,
        campaign=campaign,
        now=now,
    )


def refresh_request(
    *,
    kind: str,
    kept: QuerySet[Any],
    version: Callable[[Campaign], str],
    seconds: float,
    campaign: Campaign,
    now: datetime,
) -> Job | None:
    """Enqueue a job that refreshes a campaign's row of ``kept``, unless the row is recent or nothing has changed.

    A row is recent while it is younger than ``seconds``; nothing has changed while its version is the current one.
    After a job, the next one waits nine times as long as that job took. A failed job is retried after minutes.
    """
    last = kept.filter(campaign=campaign).values_list("taken_at", "version").first()
    if last is not None and (
        now - last[0] < timedelta(seconds=seconds) or _rests(kind, campaign, now) or last[1] == version(campaign)
    ):
        return None
    key = f"{kind}:{campaign.pk}"
    if job_failed_lately(key=key, now=now):
        return None
    payload = CampaignPayload(campaign=str(campaign.pk))
    return job_enqueue(kind=kind, payload=payload, now=now, scope_id=campaign.pk, key=key)


def _rests(kind: str, campaign: Campaign, now: datetime) -> bool:
    """Return whether it is too early for another job of this kind, given how long the last successful one took."""
    done = Job.objects.filter(scope=campaign.pk, kind=kind, state=JobState.DONE).order_by("-created_at")
    started, finished = done.values_list("started_at", "finished_at").first() or (None, None)
    if started is None or finished is None:
        return False
    rest = min((PART - 1) * (finished - started), MOST_REST)
    return bool(finished <= now < finished + rest)


def _slots_by_state(campaign: Campaign) -> dict[str, int]:
    rows = (
        Slot.objects.filter(campaign=campaign, item__batch__purpose__in=ORDINARY)
        .values("state")
        .annotate(count=Count("pk"))
    )
    return {row["state"]: row["count"] for row in rows.order_by("state")}


def _injected_share(campaign: Campaign, filled: int) -> float:
    """Return how many injections were answered for each of the ``filled`` other slots."""
    injected = Slot.objects.filter(campaign=campaign, injection__isnull=False, state=SlotState.FILLED).count()
    return round(injected / filled, 3) if filled else 0.0


def _splits(campaign: Campaign) -> list[SplitNumbers]:
    items = Item.objects.filter(campaign=campaign, state=ItemState.ACTIVE, batch__purpose__in=ORDINARY)
    unfilled = Slot.objects.filter(campaign=campaign, item__in=items, state__in=[SlotState.OPEN, SlotState.HELD])
    counted = unfilled.values_list("item__split__name").annotate(n=Count("item", distinct=True)).order_by()
    incomplete = dict(counted)
    rows = items.values("split__name", "split__n").annotate(
        items=Count("pk"), drafts=Count("pk", filter=Q(batch__state=BatchState.DRAFT))
    )
    found: list[SplitNumbers] = []
    for row in rows.order_by("split__position", "split__name"):
        missing = incomplete.get(row["split__name"], 0)
        found.append({**row, "incomplete": missing, "complete": row["items"] - missing - row["drafts"]})
    return found


def _pilot(campaign: Campaign) -> PilotNumbers:
    """Return the progress of the open pilots."""
    pilot = {"campaign": campaign, "batch__purpose": Purpose.PILOT, "batch__state": BatchState.OPEN}
    items = Item.objects.filter(**pilot, state=ItemState.ACTIVE)
    states = Slot.objects.filter(item__in=items).exclude(state=SlotState.CLOSED).values_list("state").order_by("state")
    counts = dict(states.annotate(n=Count("pk")))
    return {
        "items": items.count(),
        "slots": sum(counts.values()),
        "open": counts.get(SlotState.OPEN, 0),
        "filled": counts.get(SlotState.FILLED, 0),
    }


def _work_numbers(campaign: Campaign) -> WorkNumbers:
    """Return the submitted work, by path through the process (Figure 2 of the paper), by stage and by person.

    Columns are read as text: making an object of each takes longer than all the counting.
    """
    path_of, sealed = _paths_kept(campaign), set(campaign.splits.exclude(sealed_at=None).values_list("pk", flat=True))
    paths: Counter[str] = Counter()
    stage_seconds: dict[str, list[float]] = defaultdict(list)
    people: dict[str, dict[str, Any]] = defaultdict(
        lambda: {"counted": 0, "late": 0, "seconds": [], "paths": Counter()}
    )
    days: Counter[str] = Counter()
    rows = Annotation.objects.filter(campaign=campaign, item__batch__purpose__in=ORDINARY).values_list(
        Cast("surrogate_id", CharField()),
        Cast("answer", TextField()),
        Cast("stage_seconds", TextField()),
        Coalesce("active_seconds", "seconds"),
        "state",
        Cast("submitted_at", TextField()),
        "item__split_id",
    )
    # Without this order SQLite follows the index of people, and reads the table in leaps: three times slower.
    for surrogate, answer, stages, seconds, state, submitted_at, split in rows.order_by("pk").iterator(chunk_size=2000):
        person = people[surrogate]
        if state != COUNTED:
            person["late"] += state == LATE
            continue
        if split not in sealed:
            path = path_of(answer)
            paths[path] += 1
            person["paths"][path] += 1
        person["counted"] += 1
        person["seconds"].append(seconds)
        days[submitted_at[:DAY]] += 1
        if stages != NO_STAGES:
            for stage, value in orjson.loads(stages).items():
                stage_seconds[stage].append(value)
    return {
        "annotations": sum(paths.values()),
        "paths": dict(paths),
        "stage_median_seconds": {stage: round(statistics.median(values), 1) for stage, values in stage_seconds.items()},
        "days": sorted(days.items())[-60:],
        "people": sorted((_person(key, person) for key, person in people.items()), key=itemgetter("surrogate")),
    }


def _paths_kept(campaign: Campaign) -> Callable[[str], str]:
    """Return a function from an answer as JSON to its path, which parses answers of the same text once."""
    task_type = TASK_TYPES[campaign.task_type]
    return lru_cache(MOST_KEPT)(lambda answer: task_type.path(orjson.loads(answer)))


def _person(surrogate: str, person: dict[str, Any]) -> PersonNumbers:
    median = round(statistics.median(person["seconds"]), 1) if person["seconds"] else None
    return {
        "surrogate": str(UUID(surrogate)),  # databases write it with and without hyphens
        "counted": person["counted"],
        "late": person["late"],
        "median_seconds": median,
        "paths": dict(person["paths"]),
    }
