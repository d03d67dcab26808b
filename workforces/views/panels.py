"""Lists that go to a panel and come from it: how each visit ended, and which visits it confirms."""

import csv
import uuid
from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.permissions import Action, signed_in
from annotation.views.access import campaign_for
from config.cells import harmless
from jobs.services import job_enqueue
from workforces.forms import PanelListForm
from workforces.models import Ticket, TicketState, Workforce, WorkforceKind
from workforces.selectors import CONFIRM_LIST
from workforces.services.terms import terms_of


@login_required
@require_GET
def approvals(request: HttpRequest, slug: str, workforce_id: int) -> HttpResponseBase:
    """Send the list of a panel's people and how each visit ended, to be approved there."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    row = get_object_or_404(Workforce, pk=workforce_id, campaign=campaign, kind=WorkforceKind.LINK)
    response = StreamingHttpResponse(_approval_lines(row), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{campaign.slug}-approvals.csv"'
    return response


@login_required
@require_POST
def confirm(request: HttpRequest, slug: str, workforce_id: int) -> HttpResponse:
    """Take the panel's list of its people and their visits: what they did counts from then on."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    row = get_object_or_404(Workforce, pk=workforce_id, campaign=campaign, kind=WorkforceKind.LINK)
    form = PanelListForm(request.POST, request.FILES)
    if form.is_valid():
        upload = form.cleaned_data["file"]
        payload = {"workforce": row.pk, "file": default_storage.save(f"{uuid.uuid4()}", upload), "name": upload.name}
        job_enqueue(
            kind=CONFIRM_LIST, payload=payload, now=timezone.now(), scope_id=campaign.pk,
            requested_by_id=signed_in(request).surrogate_id,
        )  # fmt: skip
        messages.success(request, _("The list is being read; this page shows what came of it."))
    else:
        messages.error(request, " ".join(map(str, form.errors.get("file", []))))
    return redirect("quality-workforces", slug=slug)


class _Line:
    """A file that hands back what was written to it."""

    def write(self, text: str) -> str:
        """Return the line."""
        return text


def _approval_lines(row: Workforce) -> Iterator[str]:
    terms, writer = terms_of(row), csv.writer(_Line())
    yield writer.writerow([terms.person_parameter, terms.visit_parameter, "outcome", "answers", "submitted_at"])
    tickets = Ticket.objects.filter(workforce=row).select_related("surrogate__external", "surrogate__claimed")
    # Of several visits with the same ids, those that a manager refused say nothing of the one that counts.
    others = Ticket.objects.filter(workforce=row, remote_id=OuterRef("remote_id")).exclude(state=TicketState.REFUSED)
    tickets = tickets.exclude(Exists(others), state=TicketState.REFUSED, surrogate__claimed__isnull=False)
    for ticket in tickets.order_by("pk").iterator(chunk_size=500):
        person = getattr(ticket.surrogate, "external", None) or getattr(ticket.surrogate, "claimed", None)
        at = ticket.submitted_at.isoformat(timespec="seconds") if ticket.submitted_at else ""
        is_refused = ticket.state == TicketState.REFUSED
        outcome = ticket.state if is_refused else ticket.outcome or ticket.state
        cells = [person.name if person else "", ticket.remote_id, outcome, ticket.work.count(), at]
        yield writer.writerow([harmless(str(cell)) for cell in cells])
