"""What a person from a marketplace or a panel sees of their own work and pay."""

from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from workforces.models import Ticket
from workforces.selectors import standing_of
from workforces.services.appeals import AppealError, appeal_open
from workforces.services.statements import STATEMENT
from workforces.services.visits import visitor_withdraw


@require_http_methods(["GET", "POST"])
def statement(request: HttpRequest, token: str) -> HttpResponse:
    """Show a person from a marketplace what they did and what became of their pay; take an appeal."""
    try:
        workforce_id, surrogate_id = signing.loads(token, salt=STATEMENT)
    except signing.BadSignature as error:
        raise Http404 from error
    own = Ticket.objects.filter(workforce_id=workforce_id, surrogate_id=surrogate_id).select_related(
        "workforce__campaign", "appeal"
    )
    if request.method == "POST" and "withdraw" in request.POST and own.exists():
        visitor_withdraw(workforce=own[0].workforce, surrogate_id=surrogate_id, now=timezone.now())
        messages.success(request, _("You have withdrawn your consent. What you handed in is still paid."))
        return redirect("statement", token=token)
    if request.method == "POST":
        pk = request.POST.get("ticket", "")
        ticket = get_object_or_404(own, pk=int(pk) if pk.isdecimal() else 0)
        try:
            appeal_open(ticket=ticket, text=request.POST.get("text", ""), now=timezone.now())
            messages.success(request, _("Your appeal is with the managers."))
        except AppealError as error:
            messages.error(request, str(error))
        return redirect("statement", token=token)
    tickets = list(own.order_by("-pk")[:200])
    if not tickets:
        raise Http404
    campaign = tickets[0].workforce.campaign
    standing = standing_of(campaign=campaign, surrogate_id=surrogate_id)
    return render(request, "workforces/statement.html", {"tickets": tickets, "campaign": campaign, **standing})
