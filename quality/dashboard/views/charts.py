"""The charts of a campaign, each as part of a page, as a file and as numbers."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.access import campaign_for
from annotation.models import Campaign, Snapshot
from annotation.tasktypes.registry import pages_of
from measures.charts.svg import Chart, as_csv, as_file, in_page
from quality.dashboard.charts.campaign import DRAWINGS, chart_of
from quality.dashboard.charts.drawings import Numbers
from quality.labels.charts import TARGET
from quality.models import QualitySnapshot, StudySnapshot, TargetSnapshot
from quality.people.selectors.names import names_of
from quality.studies.charts import STUDIES
from storage.tables.cells import EXCEL_MARK

SECONDS_KEPT = 30
MOST_ROWS = 200  # of the table under a chart; the file holds all


@login_required
@require_GET
def chart(request: HttpRequest, slug: str, figure: str) -> HttpResponse:
    """Show a chart with its numbers, to be embedded in a page."""
    found = _chart(campaign_for(request, slug, _needed(figure)), figure)
    context: dict[str, Any] = {"slug": slug, "figure": figure, "chart": found, "title": DRAWINGS[figure].title}
    if found is not None:
        context |= {"svg": mark_safe(in_page(found)), "rows": found.rows[:MOST_ROWS]}  # noqa: S308  escaped by matplotlib
    response = render(request, "quality/_chart.html", context)
    # What cannot be drawn yet may be in a moment.
    patch_cache_control(response, private=True, max_age=SECONDS_KEPT if found is not None else 0)
    return response


@login_required
@require_GET
def chart_svg(request: HttpRequest, slug: str, figure: str) -> HttpResponse:
    """Send a chart as a file."""
    return _sent(request, slug, figure, "svg", "image/svg+xml", as_file)


@login_required
@require_GET
def chart_csv(request: HttpRequest, slug: str, figure: str) -> HttpResponse:
    """Send the numbers of a chart as a file."""
    return _sent(request, slug, figure, "csv", "text/csv; charset=utf-8", lambda drawn: EXCEL_MARK + as_csv(drawn))


def _sent(
    request: HttpRequest, slug: str, figure: str, ending: str, kind: str, written: Callable[[Chart], str]
) -> HttpResponse:
    found = _chart(campaign_for(request, slug, _needed(figure)), figure)
    if found is None:
        raise Http404
    disposition = f'attachment; filename="{slug}-{figure}.{ending}"'
    return HttpResponse(written(found), content_type=kind, headers={"Content-Disposition": disposition})


def _needed(figure: str) -> Action:
    """Return the permission for a chart: charts of studies need less, since they don't name people."""
    return Action.SEE_RELEASES if figure in STUDIES else Action.MANAGE


def _chart(campaign: Campaign, figure: str) -> Chart | None:
    """Return a chart, or None if there is too little data."""
    if figure not in DRAWINGS:
        raise Http404
    pages = pages_of(campaign.task_type)
    named = {
        "measures": pages.measures,
        "paths": dict(pages.paths),
        "parts": pages.part_names,
        "grades": {str(grade): name for grade, name, _description in pages.grades},
    }
    kept: dict[str, Any] = {"quality": {}, "work": {}}
    if figure in STUDIES:
        kept["studies"] = _kept(StudySnapshot.objects.all(), campaign)
    elif figure in TARGET:
        kept["target"] = _kept(TargetSnapshot.objects.all(), campaign)
    else:
        kept = {
            "quality": _kept(QualitySnapshot.objects.all(), campaign),
            "work": _kept(Snapshot.objects.all(), campaign),
        }
    return chart_of(figure, Numbers(today=timezone.now().date(), names=_named, **kept, **named))


def _kept(snapshots: QuerySet[Any], campaign: Campaign) -> dict[str, Any]:
    return snapshots.filter(campaign=campaign).values_list("data", flat=True).first() or {}


def _named(keys: list[str]) -> dict[str, str]:
    return {str(key): name for key, name in names_of([UUID(key) for key in keys]).items()}
