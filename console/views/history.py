"""The history of a campaign for its managers: every action with its actor and reason, and every job."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.models import AuditEvent
from accounts.permissions import Action
from annotation.access import campaign_for
from annotation.models import Campaign
from console.audit_words import ACTS
from jobs.models import Job, JobState
from jobs.services import job_retry
from quality.people.selectors.names import names_of
from web.tables import BulkAct, Cell, Column, QueryRows, Table, as_file

TAGS = {JobState.DONE: "good", JobState.FAILED: "bad"}
RETRY = BulkAct(
    "retry",
    gettext_lazy("Try again"),
    gettext_lazy("Failed jobs continue from where they stopped. Other selected jobs aren't affected."),
)


@login_required
@require_GET
def by_id(request: HttpRequest, campaign_id: UUID) -> HttpResponse:
    """Redirect to a campaign by its id, for links from jobs, which don't know short names."""
    campaign = get_object_or_404(Campaign, pk=campaign_id)
    return redirect("campaign", slug=campaign_for(request, campaign.slug, Action.SEE_CAMPAIGN).slug)


@login_required
@require_GET
def log(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the actions of people and rules, latest first, or download them as a file."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    events, wanted = AuditEvent.objects.filter(scope_id=campaign.pk), request.GET.get("act", "")
    if wanted in ACTS:
        events = events.filter(action=wanted)
    columns = [
        Column("at", _("Time (UTC)"), lambda row: row[0].at, order="pk"),
        Column("who", _("Who"), lambda row: row[1]),
        Column("what", _("What"), lambda row: ACTS.get(row[0].action, row[0].action)),
        Column("why", _("Why"), _why),
        Column(
            "about",
            _("Affected record"),
            lambda row: Cell(_subject(campaign, row[0]), is_code=True, whole=row[0].subject),
        ),
        Column("name", _("Action code"), lambda row: Cell(row[0].action, is_code=True), is_extra=True),
    ]
    table = Table(QueryRows(events), columns, _by_whom, sort="-at")
    context = {
        "campaign": campaign,
        "table": table.page(request.GET),
        "wanted": wanted,
        "acts": sorted(ACTS.items(), key=lambda act: str(act[1])),
    }
    return as_file(table, request.GET, name=f"{slug}-log") or render(request, "console/log.html", context)


def _subject(campaign: Campaign, event: AuditEvent) -> str:
    """Return the subject of an event, unless it is the campaign whose log this is."""
    return "" if event.subject == f"campaign:{campaign.pk}" else event.subject


def _by_whom(events: Sequence[AuditEvent]) -> list[tuple[AuditEvent, str]]:
    names = names_of([event.actor_id for event in events])

    def who(actor_id: UUID | None) -> str:
        return names[actor_id] if actor_id else _("System")

    return [(event, who(event.actor_id)) for event in events]


def _why(row: tuple[AuditEvent, str]) -> Any:
    """Return only the reason: an event may also hold an expert's opinion, or evidence that is shown elsewhere."""
    reason = row[0].data.get("reason", "")
    return reason if isinstance(reason, str) else ""


@login_required
@require_GET
def jobs(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the jobs of a campaign, the latest first, or send them as a file."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    table = _jobs(campaign, request.GET.get("state", ""))
    context = {
        "campaign": campaign,
        "table": table.page(request.GET, [RETRY]),
        "states": JobState.choices,
        "wanted": request.GET.get("state", ""),
    }
    return as_file(table, request.GET, name=f"{slug}-jobs") or render(request, "console/jobs.html", context)


def _jobs(campaign: Campaign, state: str) -> Table:
    rows = Job.objects.filter(scope_id=campaign.pk)
    if state in JobState.values:
        rows = rows.filter(state=state)
    columns = [
        Column("at", _("Requested (UTC)"), lambda job: job.created_at, order="created_at"),
        Column("what", _("What"), lambda job: Cell(job.title, reverse("job", args=[job.pk]))),
        Column("state", _("State"), lambda job: Cell(job.get_state_display(), tag=TAGS.get(job.state, "plain"))),
        Column("done", _("Done"), lambda job: job.done, is_number=True),
        Column("total", _("Total"), lambda job: job.total, is_number=True),
        Column("message", _("Message"), lambda job: job.error or job.message),
        Column("finished", _("Finished (UTC)"), lambda job: job.finished_at),
        Column("kind", _("Type"), lambda job: Cell(job.kind, is_code=True), is_extra=True),
        Column("attempts", _("Attempts"), lambda job: job.attempt, is_number=True, is_extra=True),
    ]
    return Table(QueryRows(rows), columns, sort="-at")


@login_required
@require_POST
def jobs_retry(request: HttpRequest, slug: str) -> HttpResponse:
    """Retry the selected jobs that failed."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    ticked = _jobs(campaign, "").ticked(request.POST)
    queued = sum(job_retry(job_id=job.pk, now=timezone.now()) for job in ticked)
    if queued:
        said = ngettext("%(n)s job will be retried.", "%(n)s jobs will be retried.", queued)
        messages.success(request, said % {"n": queued})
    else:
        messages.error(request, _("None of the selected jobs has failed."))
    return redirect(f"{reverse('campaign-jobs', args=[slug])}?{request.GET.urlencode()}")
