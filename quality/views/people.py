"""One person as managers see them, and what they do about them."""

import zoneinfo
from datetime import UTC, datetime, time
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.models import Campaign
from annotation.tasktypes.registry import pages_of
from annotation.views.access import campaign_for
from quality.selectors.people import names_of
from quality.selectors.person import person_of
from quality.services.people import ReviewError
from quality.services.person_acts import ManagerAct, person_act


@login_required
@require_http_methods(["GET", "POST"])
def person(request: HttpRequest, slug: str, surrogate_id: UUID) -> HttpResponse:
    """Show a person; POST does something about them, with a reason."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if request.method == "POST":
        try:
            _act(request, campaign, surrogate_id)
            messages.success(request, _("Done. It can be taken back below."))
        except ReviewError as error:
            messages.error(request, str(error))
        return redirect("quality-person", slug=slug, surrogate_id=surrogate_id)
    found = person_of(campaign=campaign, surrogate_id=surrogate_id)
    if found is None:
        raise Http404
    pages = pages_of(campaign.task_type)
    context = {
        "campaign": campaign, "surrogate_id": surrogate_id, "pages": pages,
        "name": names_of([surrogate_id]).get(surrogate_id, _("An annotator who left")), **found,
        "peers": [(pages.measures.get(row.key, row.key), row) for row in found["peers"]],
        "shares": [(dict(pages.paths).get(path, path), own, all_) for path, own, all_ in found["shares"]],
    }  # fmt: skip
    return render(request, "quality/person.html", context)


def _act(request: HttpRequest, campaign: Campaign, surrogate_id: UUID) -> None:
    act = request.POST.get("act", "")
    if act not in set(ManagerAct):
        raise ReviewError(_("Choose what to do."))
    person_act(
        campaign=campaign, surrogate_id=surrogate_id, act=ManagerAct(act), reason=request.POST.get("reason", "")[:1000],
        since=_day(campaign, request.POST.get("since", "")), actor_id=signed_in(request).surrogate_id, now=timezone.now(),
    )  # fmt: skip


def _day(campaign: Campaign, text: str) -> datetime | None:
    """Return the beginning of a day of the campaign; None for anything that is no day."""
    try:
        day = parse_date(text)
        if day is None:
            return None
        return timezone.make_aware(datetime.combine(day, time()), zoneinfo.ZoneInfo(campaign.time_zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
