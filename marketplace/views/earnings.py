"""A worker's work, decisions about it, and earnings."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from marketplace import clock, selectors
from marketplace.services.due import AT_MOST_BEFORE_AN_ANSWER, due_carry_out
from marketplace.services.standing import worker_record
from marketplace.views.access import WorkerRequest, worker_page


@require_safe
@worker_page
def earnings(request: WorkerRequest) -> HttpResponse:
    """Show totals and the latest decisions with the requester's feedback."""
    due_carry_out(now=clock.now(), worker=request.user, most=AT_MOST_BEFORE_AN_ANSWER)
    before = request.GET.get("before", "")
    rows = selectors.work_done(request.user, before=int(before) if before.isdecimal() and len(before) < 18 else None)
    context = {
        "assignments": rows,
        "total": selectors.earnings_total(request.user),
        "record": worker_record(request.user),
        "before": rows[-1].pk if len(rows) == 25 else None,
    }
    return render(request, "marketplace/earnings.html", context)
