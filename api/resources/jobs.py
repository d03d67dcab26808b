"""Background jobs, with their progress and problems."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Query, Router

from accounts.permissions import Action
from api.http.checks import Reply
from api.http.operations import ApiRequest, operation
from api.http.paging import FieldsQuery, Page, PageQuery, page_of
from api.http.problems import Refused, not_found
from api.http.waiting import MOST_WAIT, changes
from api.models import TokenScope
from jobs.models import Job, JobState
from jobs.services import job_enqueue, job_retry, job_stop
from jobs.views import may_steer

router = Router()


class RowProblem(Reply):
    """A problem with a row of an imported file."""

    row: int | None = None
    where: str = ""
    field: str = Field("", validation_alias="column")
    detail: str = Field("", validation_alias="error")


class JobReply(Reply):
    """A job. It is finished when `state` is `done` or `failed`."""

    id: UUID
    kind: str
    title: str
    state: str
    done: int
    total: int | None
    message: str
    error: str = Field(description="The reason why the job failed or waits.")
    result: dict[str, Any]
    errors: list[RowProblem] = Field(description="At most 1,000 invalid rows.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @staticmethod
    def resolve_error(job: Job) -> str:
        """Return the reason in English."""
        return job.problem

    @staticmethod
    def resolve_result(job: Job) -> dict[str, Any]:
        """Return the numbers that a job returned; lists of errors and files are elsewhere."""
        kept = (int, float, str, bool, type(None))
        return {name: value for name, value in job.result.items() if isinstance(value, kept)} | {
            "notes": job.result.get("notes", [])
        }

    @staticmethod
    def resolve_errors(job: Job) -> Any:
        """Return the rows that were wrong."""
        return job.result.get("errors", [])


class JobQuery(FieldsQuery):
    """The parameters of reading a job."""

    wait: int = Field(0, ge=0, le=MOST_WAIT, description="Wait this many seconds for a change before answering.")


def job_queued(request: ApiRequest, kind: str, payload: Mapping[str, Any]) -> Job:
    """Queue a job for the token's owner, and name its address in the answer."""
    job = job_enqueue(
        kind=kind,
        payload=payload,
        now=timezone.now(),
        scope_id=request.campaign.pk,
        requested_by_id=request.user.surrogate_id,
    )
    return job_named(request, job)


def job_named(request: ApiRequest, job: Job) -> Job:
    """Return a job, with its address in the answer."""
    request.answer_headers["Location"] = f"/api/v1/jobs/{job.pk}"
    return job


def _job(request: ApiRequest, job_id: UUID) -> Job:
    """Return a job that the token's owner may see."""
    job = Job.objects.filter(pk=job_id).first()
    is_of_token = job is not None and request.token.campaign_id in (None, job.scope_id)
    if job is None or job.scope_id is None or not is_of_token or not may_steer(request, job):
        raise not_found()
    return job


@operation(router, "GET", "/campaigns/{campaign}/jobs", Page[JobReply], action=Action.MANAGE)
def job_list(request: ApiRequest, campaign: str, asked: Query[PageQuery]) -> Any:
    """List a campaign's jobs, newest first."""
    rows = Job.objects.filter(scope_id=request.campaign.pk)
    return page_of(request, rows, asked, by="created_at", newest_first=True)


@operation(router, "GET", "/jobs/{job_id}", JobReply, action=None)
def job_read(request: ApiRequest, job_id: UUID, asked: Query[JobQuery]) -> Job:
    """Return a job. With `wait`, the answer comes when the job has made progress or ended, or when the time is up."""
    job = _job(request, job_id)
    known = (job.state, job.done, job.message)

    def is_news(found: Job) -> bool:
        return found.is_finished or (found.state, found.done, found.message) != known

    return changes(lambda: _job(request, job_id), asked.wait, is_news=is_news)


@operation(router, "POST", "/jobs/{job_id}/stop", JobReply, action=None, scope=TokenScope.MANAGE)
def job_end(request: ApiRequest, job_id: UUID) -> Job:
    """Stop a job. What was done until then is kept."""
    job = _job(request, job_id)
    job_stop(job_id=job.pk, now=timezone.now())
    job.refresh_from_db()
    return job


@operation(router, "POST", "/jobs/{job_id}/retry", JobReply, action=None, scope=TokenScope.MANAGE)
def job_again(request: ApiRequest, job_id: UUID) -> Job:
    """Run a failed job again; it continues where it stopped."""
    job = _job(request, job_id)
    if job.state == JobState.FAILED and not job_retry(job_id=job.pk, now=timezone.now()):
        raise Refused(409, "job_taken", "Another job does the same at the moment.")
    job.refresh_from_db()
    return job
