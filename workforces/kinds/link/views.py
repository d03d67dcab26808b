"""Lists for and from a panel: the outcomes of visits, and the visits that the panel confirms."""

import csv
import uuid
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Standing
from jobs.services import job_enqueue
from storage.tables.cells import harmless
from workforces.kinds.base import Unsigned
from workforces.kinds.link.forms import PanelListForm
from workforces.kinds.link.lists import CONFIRM_LIST
from workforces.models import PayRefusal, Ticket, TicketState, Workforce
from workforces.payloads import VisitsListPayload
from workforces.services.terms import terms_of


@login_required
@require_GET
def approvals(request: HttpRequest, slug: str, workforce_id: int) -> HttpResponseBase:
    """Return the CSV list of a panel's people and the outcome of each visit, for approval at the panel."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    row = get_object_or_404(Workforce, pk=workforce_id, campaign=campaign, kind=PANEL)
    response = StreamingHttpResponse(_approval_lines(row), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-approvals.csv"'
    return response


@login_required
@require_POST
def confirm(request: HttpRequest, slug: str, workforce_id: int) -> HttpResponse:
    """Read the panel's list of its people and their visits; their work counts from then on."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    row = get_object_or_404(Workforce, pk=workforce_id, campaign=campaign, kind=PANEL)
    form = PanelListForm(request.POST, request.FILES)
    if form.is_valid():
        upload = form.cleaned_data["file"]
        stored = default_storage.save(f"{uuid.uuid4()}", upload)
        job_enqueue(
            kind=CONFIRM_LIST,
            payload=VisitsListPayload(workforce=row.pk, file=stored, name=upload.name),
            now=timezone.now(),
            scope_id=campaign.pk,
            requested_by_id=signed_in(request).surrogate_id,
        )
        messages.success(request, _("The list is being processed. The result will appear on this page."))
    else:
        messages.error(request, " ".join(map(str, form.errors.get("file", []))))
    return redirect("quality-workforces", slug=slug)


PANEL = "link"


class _Line:
    """A file whose write method returns the text."""

    def write(self, text: str) -> str:
        """Return the line."""
        return text


# What a manager decided, or has to, says more than how the visit ended.
_DECIDED = {TicketState.REFUSED: "refused", TicketState.UNMATCHED: "undecided"}


def _approval_lines(row: Workforce) -> Iterator[str]:
    terms, writer = terms_of(row), csv.writer(_Line())
    yield writer.writerow([terms.person_parameter, terms.visit_parameter, "outcome", "answers", "submitted_at"])
    tickets = _told(row).select_related("surrogate__external", "surrogate__claimed")
    for ticket in tickets.order_by("pk").iterator(chunk_size=500):
        person = getattr(ticket.surrogate, "external", None) or getattr(ticket.surrogate, "claimed", None)
        at = ticket.submitted_at.isoformat(timespec="seconds") if ticket.submitted_at else ""
        cells = [person.name if person else "", ticket.remote_id, _outcome(ticket), ticket.work.count(), at]
        yield writer.writerow([harmless(str(cell)) for cell in cells])


def _outcome(ticket: Any) -> str:
    """Return a visit's outcome for the panel's list; a visit that awaits a manager's decision is ``undecided``."""
    waits = (ticket.is_paused and not ticket.decided_at) or (ticket.rank == 0 and ticket.is_refused_anywhere)
    if ticket.outcome and ticket.state != TicketState.REFUSED and waits:
        return "undecided"
    return str(_DECIDED.get(TicketState(ticket.state)) or ticket.outcome or ticket.state)


def _told(row: Workforce) -> QuerySet[Ticket]:
    """Return the visits for the panel's list: of several with the same ids, the one decided last and best.

    The order, from the best: a counted visit, a visit that awaits a manager's decision, a refused visit, and an
    unconfirmed visit, since anyone could have come with its ids.
    """
    person = Coalesce("surrogate__external__name", "surrogate__claimed__name", Value(""))
    tickets = Ticket.objects.filter(workforce=row).annotate(person=person)
    same_ids = tickets.filter(person=OuterRef("person"), remote_id=OuterRef("remote_id"))
    # Where unsigned visits count at once, nobody decided that one with the ids of a refused visit is to be paid.
    at_once = Q(is_signed=False) if terms_of(row).unsigned == Unsigned.COUNT else Q(pk=None)
    tickets = tickets.annotate(
        rank=Case(
            When(at_once & Q(state=TicketState.SUBMITTED) & Exists(same_ids.filter(state=TicketState.REFUSED)), then=0),
            When(state__in=[TicketState.SUBMITTED, TicketState.APPROVED], then=3),
            When(state=TicketState.UNMATCHED, then=2),
            When(state=TicketState.REFUSED, then=1),
            default=0,
        ),
    )
    theirs = tickets.filter(person=OuterRef("person"))
    paused = row.campaign.participations.filter(surrogate=OuterRef("surrogate"), standing=Standing.PAUSED)
    # Of a visit that nobody confirmed, its own refusal is carried out once it is listed.
    refused = PayRefusal.objects.filter(campaign=row.campaign).values("surrogate")
    is_refused = Q(state=TicketState.REFUSED) | Q(surrogate__in=refused)
    tickets = tickets.annotate(is_refused_anywhere=Exists(theirs.filter(is_refused)), is_paused=Exists(paused))
    same = theirs.filter(remote_id=OuterRef("remote_id"))
    better = same.filter(rank__gt=OuterRef("rank"))
    earlier = same.filter(rank=OuterRef("rank"), state=TicketState.REFUSED, pk__lt=OuterRef("pk"))
    return tickets.exclude(Exists(better)).exclude(Exists(earlier))
