"""The Celery tasks, and the sweeps of the jobs app. Messages carry only ids; the rows are the source of truth."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from jobs.services import RUN_TASK, job_run, jobs_announce_due, jobs_forget
from jobs.ticks import tick as run_ticks
from jobs.uploads import uploads_forget

SWEEPS = [jobs_forget, uploads_forget]


@shared_task(name=RUN_TASK)
def run_job(*, job_id: str) -> None:
    """Run one job, if it is still due."""
    job_run(job_id=UUID(job_id))


@shared_task(name="jobs.tick")
def tick() -> None:
    """Announce due jobs again and run the periodic upkeep."""
    jobs_announce_due(now=timezone.now())
    run_ticks(now=timezone.now())
