"""The list of a panel's people and how each visit ended."""

import csv
from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.views.access import campaign_for
from workforces.models import Ticket, Workforce, WorkforceKind
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


class _Line:
    """A file that hands back what was written to it."""

    def write(self, text: str) -> str:
        """Return the line."""
        return text


def _approval_lines(row: Workforce) -> Iterator[str]:
    terms, writer = terms_of(row), csv.writer(_Line())
    yield writer.writerow([terms.person_parameter, terms.visit_parameter, "outcome", "answers", "submitted_at"])
    tickets = Ticket.objects.filter(workforce=row).select_related("surrogate__external").order_by("pk")
    for ticket in tickets.iterator(chunk_size=500):
        person = getattr(ticket.surrogate, "external", None)
        at = ticket.submitted_at.isoformat(timespec="seconds") if ticket.submitted_at else ""
        cells = [person.name if person else "", ticket.remote_id, ticket.outcome or ticket.state, ticket.work.count(), at]  # fmt: skip
        yield writer.writerow([_harmless(str(cell)) for cell in cells])


def _harmless(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell[:1] in "=+-@\t\r" and cell != "-" else cell
