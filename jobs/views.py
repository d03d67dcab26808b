"""The progress of a job, as a page or as part of another page."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, can, signed_in
from jobs.models import Job, JobState
from jobs.registry import kinds
from jobs.services import job_retry, job_stop


def may_steer(request: HttpRequest, job: Job) -> bool:
    """Return whether a person may stop or retry a job: as its campaign's manager, or as its requester if permitted."""
    user = signed_in(request)
    if can(user, Action.MANAGE, job.scope_id):
        return True
    kind = kinds().get(job.kind)
    return (
        kind is not None and job.requested_by_id == user.surrogate_id and can(user, Action(kind.action), job.scope_id)
    )


@login_required
@require_http_methods(["GET", "POST"])
def job_progress(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Show the progress of a job; POST stops it, or queues a failed one again."""
    job = get_object_or_404(Job, pk=job_id)
    if not may_steer(request, job):
        raise Http404
    if request.method == "POST":
        if "stop" in request.POST:
            job_stop(job_id=job.pk, now=timezone.now())
        elif job.state == JobState.FAILED:
            job_retry(job_id=job.pk, now=timezone.now())
        job.refresh_from_db()
    if not request.headers.get("HX-Request"):
        return render(request, "jobs/job.html", {"job": job})
    response = render(request, "jobs/_progress.html", {"job": job})
    if job.is_finished:  # what the job made belongs on the page around it
        response["HX-Refresh"] = "true"
    return response
