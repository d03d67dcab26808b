"""What Celery calls. Messages carry ids; the rows say what is true."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from jobs.services import job_announce, job_run, jobs_due
from jobs.ticks import tick as run_ticks


@shared_task(name="jobs.run")
def run_job(*, job_id: str) -> None:
    """Run one job, if it is still due."""
    job_run(job_id=UUID(job_id))


@shared_task(name="jobs.tick")
def tick() -> None:
    """Announce due jobs again and do the periodic upkeep."""
    for job_id in jobs_due(now=timezone.now(), limit=1000):
        job_announce(job_id=job_id)
    run_ticks(now=timezone.now())
