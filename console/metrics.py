"""What each scrape of ``/metrics`` reads: queues, unexamined answers, errands, gold, money, and the disk.

Each statement reads an index of unfinished work or one row for each open campaign; none counts finished work.
"""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min

from annotation.models import Campaign, CampaignState
from console.health import problems
from jobs.models import Heartbeat, Job, JobState
from jobs.registry import Lane
from jobs.ticks import TICK
from quality.models import GoldKeyState, QualitySnapshot, Unexamined
from web.metrics import Reading, machine_readings
from workforces.models import Errand, ErrandState, Workforce


def readings(now: datetime) -> Iterator[Reading]:
    """Yield the current values; raises `DatabaseError` if the database doesn't respond."""
    yield Reading("quorate_problems", "Problems that /readyz reports", len(list(problems(now))))
    yield from machine_readings()
    yield from _jobs(now)
    yield from _answers(now)
    yield from _errands(now)
    yield from _campaigns()


def _jobs(now: datetime) -> Iterator[Reading]:
    unfinished = Job.objects.filter(state__in=[JobState.QUEUED, JobState.RUNNING])
    rows = unfinished.order_by("lane").values_list("lane").annotate(number=Count("pk"), oldest=Min("due_at"))
    found = {lane: (number, oldest) for lane, number, oldest in rows}
    for lane in Lane:
        number, oldest = found.get(lane, (0, None))
        label = (("lane", str(lane)),)
        yield Reading("quorate_jobs_unfinished", "Jobs that wait or run", number, label)
        yield Reading("quorate_jobs_oldest_seconds", "Time since the oldest of them was due", _age(oldest, now), label)
    failed = Job.objects.filter(state=JobState.FAILED).count()
    yield Reading("quorate_jobs_failed", "Failed jobs that can be retried", failed)
    seen = Heartbeat.objects.filter(name=TICK).values_list("at", flat=True).first()
    yield Reading("quorate_worker_silent_seconds", "Time since a worker was last seen", _age(seen, now))


def _answers(now: datetime) -> Iterator[Reading]:
    found = Unexamined.objects.aggregate(number=Count("pk"), oldest=Min("since"))
    yield Reading("quorate_unexamined_answers", "Answers that could not be checked", found["number"])
    yield Reading(
        "quorate_unexamined_oldest_seconds", "Time since the first failed check of one", _age(found["oldest"], now)
    )


def _errands(now: datetime) -> Iterator[Reading]:
    due = Errand.objects.filter(state__in=[ErrandState.DUE, ErrandState.SENDING])
    found = due.aggregate(number=Count("pk"), oldest=Min("due_at"))
    yield Reading("quorate_errands_due", "Tasks at marketplaces that aren't confirmed", found["number"])
    yield Reading("quorate_errands_oldest_seconds", "Time since the oldest was due", _age(found["oldest"], now))
    failed = Errand.objects.filter(state=ErrandState.FAILED).count()
    yield Reading("quorate_errands_failed", "Tasks at marketplaces that need a decision", failed)


def _campaigns() -> Iterator[Reading]:
    is_open = Campaign.objects.filter(state=CampaignState.OPEN)
    yield Reading("quorate_campaigns_open", "Campaigns that are open", is_open.count())
    stopped = Workforce.objects.filter(campaign__in=is_open, spent_stop=True).count()
    yield Reading(
        "quorate_workforces_at_cap", "Workforces of open campaigns that reached their spending limit", stopped
    )
    snapshots = QualitySnapshot.objects.filter(campaign__in=is_open)
    gold = [one for one in snapshots.values_list("data__gold", flat=True) if one and one["states"][GoldKeyState.ACTIVE]]
    if gold:
        fewest = min(one["newcomers_left"] for one in gold)
        text = "New annotators that gold suffices for, in the open campaign where it is scarcest"
        yield Reading("quorate_gold_newcomers_left", text, fewest)


def _age(then: datetime | None, now: datetime) -> float:
    return max(0.0, (now - then).total_seconds()) if then else 0.0
