"""Managers' pages about people: the list, one person, and the acts on them."""

import zoneinfo
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign, Participation, Standing
from annotation.tasktypes.registry import pages_of
from quality.dashboard.services import quality_numbers_request
from quality.models import QualitySnapshot
from quality.people.selectors.names import names_of
from quality.people.selectors.person import person_of
from quality.people.services.manager_acts import ManagerAct, person_act
from quality.people.services.reviews import ReviewError
from web.error_texts import error_text
from web.tables import BulkAct, Cell, Column, ListRows, Table, as_file

RANKS = [Standing.PAUSED, Standing.WARNED, Standing.ACTIVE, Standing.SUSPENDED]  # who needs a decision comes first
TAGS = {Standing.ACTIVE: "good", Standing.WARNED: "warn", Standing.PAUSED: "warn", Standing.SUSPENDED: "bad"}
REASON = gettext_lazy("Reason (shown to the annotator)")
ACTS = [
    BulkAct("warn", gettext_lazy("Warn"), gettext_lazy("The annotator sees the reason and can keep working."), REASON),
    BulkAct(
        "pause",
        gettext_lazy("Pause pending review"),
        gettext_lazy("The annotator gets no new items until you decide. Submitted work counts and is paid."),
        REASON,
    ),
    BulkAct(
        "reinstate",
        gettext_lazy("Reinstate"),
        gettext_lazy("The annotator can start working again immediately."),
        REASON,
    ),
]


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the annotators, from numbers computed by a job; POST applies an act to the selected people."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    job = quality_numbers_request(campaign=campaign, now=timezone.now())
    snapshot = QualitySnapshot.objects.filter(campaign=campaign).first()
    rows = _with_standing_now(campaign, snapshot.data.get("people", []) if snapshot else [])
    table = Table(ListRows(rows, "surrogate_id"), _columns(campaign), _named, sort="standing")
    if request.method == "POST":
        _act_on_several(request, campaign, [UUID(row["surrogate_id"]) for row in table.ticked(request.POST)])
        return redirect(request.get_full_path())
    context = {
        "campaign": campaign,
        "table": table.page(request.GET, ACTS),
        "snapshot": snapshot,
        "is_recalculating": job is not None,
    }
    return as_file(table, request.GET, name=f"{slug}-people") or render(request, "quality/people/people.html", context)


def _with_standing_now(campaign: Campaign, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with current standings, so that a manager sees a pause right after making it."""
    people = Participation.objects.filter(campaign=campaign).values_list("surrogate_id", "standing")
    now = {str(surrogate_id): standing for surrogate_id, standing in people}
    standings = [now.get(row["surrogate_id"], row["standing"]) for row in rows]
    return [
        {**row, "standing": standing, "rank": RANKS.index(standing)}
        for row, standing in zip(rows, standings, strict=True)
    ]


def _named(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = names_of([UUID(row["surrogate_id"]) for row in rows])
    return [{**row, "name": names[UUID(row["surrogate_id"])]} for row in rows]


def _columns(campaign: Campaign) -> list[Column]:
    def name(row: Mapping[str, Any]) -> Cell:
        address = reverse("quality-person", args=[campaign.slug, row["surrogate_id"]])
        return Cell(row["name"], address)

    def standing(row: Mapping[str, Any]) -> Cell:
        return Cell(Standing(row["standing"]).label, tag=TAGS[Standing(row["standing"])])

    def number(key: str, title: str, *, is_extra: bool = False) -> Column:
        return Column(key, title, lambda row: row[key], order=key, is_number=True, is_extra=is_extra)

    return [
        Column("person", _("Annotator"), name),
        Column("standing", _("Standing"), standing, order="rank"),
        number("submitted", _("Submitted")),
        number("skipped", _("Skipped")),
        number("offensive", _("Skipped as offensive"), is_extra=True),
        number("checks", _("Gold checks")),
        number("hits", _("Gold checks passed")),
        number("approved", _("Approved")),
        number("waiting", _("Waiting")),
        number("refused", _("Refused")),
    ]


def _act_on_several(request: HttpRequest, campaign: Campaign, surrogate_ids: Sequence[UUID]) -> None:
    """Apply an act to several people, each separately.

    If the act doesn't fit one of them, the others are still processed.
    """
    act, actor_id, now = request.POST.get("act", ""), signed_in(request).surrogate_id, timezone.now()
    if act not in {one.key for one in ACTS} or not surrogate_ids:
        messages.error(request, _("Select annotators first, then choose an action."))
        return
    done, refused = 0, list[str]()
    for surrogate_id in surrogate_ids:
        try:
            person_act(
                campaign=campaign,
                surrogate_id=surrogate_id,
                act=ManagerAct(act),
                since=None,
                actor_id=actor_id,
                now=now,
                reason=request.POST.get(f"reason-{act}", "")[:1000],
            )
            done += 1
        except ReviewError as error:
            refused.append(error_text(error))
    if done:
        said = ngettext(
            "Action applied to %(n)s annotator. The numbers will update shortly.",
            "Action applied to %(n)s annotators. The numbers will update shortly.",
            done,
        )
        messages.success(request, said % {"n": done})
    for reason, n in Counter(refused).items():
        messages.error(request, _("Not applied to %(n)s of them: %(reason)s") % {"n": n, "reason": reason})


@login_required
@require_http_methods(["GET", "POST"])
def person(request: HttpRequest, slug: str, surrogate_id: UUID) -> HttpResponse:
    """Show a person; POST applies an act to them, with a reason."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if request.method == "POST":
        try:
            _act(request, campaign, surrogate_id)
            messages.success(request, _("Done. You can undo this below. The numbers follow within a minute."))
            return redirect("quality-person", slug=slug, surrogate_id=surrogate_id)
        except ReviewError as error:
            messages.error(request, error_text(error))
    found = person_of(campaign=campaign, surrogate_id=surrogate_id)
    if found is None:
        raise Http404
    pages = pages_of(campaign.task_type)
    context = {
        "campaign": campaign,
        "surrogate_id": surrogate_id,
        "pages": pages,
        "kept": request.POST,
        "name": names_of([surrogate_id])[surrogate_id],
        **found,
        "peers": [(pages.measures.get(row.key, row.key), row) for row in found["peers"]],
        "shares": [(dict(pages.paths).get(path, path), own, all_) for path, own, all_ in found["shares"]],
    }
    return render(request, "quality/people/person.html", context)


def _act(request: HttpRequest, campaign: Campaign, surrogate_id: UUID) -> None:
    act = request.POST.get("act", "")
    if act not in set(ManagerAct):
        raise ReviewError("action_missing")
    person_act(
        campaign=campaign,
        surrogate_id=surrogate_id,
        act=ManagerAct(act),
        reason=request.POST.get("reason", "")[:1000],
        since=_day(campaign, request.POST.get("since", "")),
        actor_id=signed_in(request).surrogate_id,
        now=timezone.now(),
    )


def _day(campaign: Campaign, text: str) -> datetime | None:
    """Return the start of a day in the campaign's time zone; None if the text isn't a day."""
    try:
        day = parse_date(text)
        if day is None:
            return None
        return timezone.make_aware(datetime.combine(day, time()), zoneinfo.ZoneInfo(campaign.time_zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
