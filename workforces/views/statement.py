"""The page of a person from a marketplace or a panel about their own work and pay."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from annotation.people.services.withdrawal import withdrawal_ask, withdrawal_of, withdrawal_undo
from web.error_texts import error_text
from workforces.kinds.registry import KINDS
from workforces.models import Ticket
from workforces.selectors import refusal_reason, standing_of
from workforces.services.appeals import AppealError, appeal_open
from workforces.services.erasure import NotSettled, person_erase
from workforces.services.statements import NoStatement, StatementOver, statement_send, statement_ticket


@never_cache
@require_http_methods(["GET", "POST"])
def statement(request: HttpRequest, token: str) -> HttpResponse:
    """Show a person from a marketplace their work and its pay; POST submits an appeal or a withdrawal."""
    try:
        ticket = statement_ticket(token)
    except NoStatement as error:
        raise Http404 from error
    except StatementOver as over:
        return _over(request, over.ticket)
    if request.method == "POST" and "erase" in request.POST:
        return _erased(request, ticket, token)
    if request.method == "POST" and "text" not in request.POST:
        return _leaving(request, ticket, token)
    own = Ticket.objects.filter(workforce=ticket.workforce_id, surrogate=ticket.surrogate_id).select_related("appeal")
    own = own.annotate(refused_because=refusal_reason())
    if request.method == "POST":
        refused = get_object_or_404(own, pk=whole_number(request.POST.get("ticket")))
        try:
            appeal_open(ticket=refused, text=request.POST.get("text", ""), now=timezone.now())
            messages.success(request, _("Your appeal has been sent to the managers."))
        except AppealError as error:
            messages.error(request, error_text(error))
        return redirect("statement", token=token)
    campaign = ticket.workforce.campaign
    context = {
        "tickets": own.order_by("-pk")[:200],
        "campaign": campaign,
        "asks": next(iter(request.GET), ""),
        "token": token,
    }
    context |= standing_of(campaign=campaign, surrogate_id=ticket.surrogate_id)
    context["asked"] = withdrawal_of(campaign=campaign, surrogate_id=ticket.surrogate_id)
    return render(request, "workforces/statement.html", context)


def _leaving(request: HttpRequest, ticket: Ticket, token: str) -> HttpResponse:
    """Withdraw consent after confirmation, or cancel the withdrawal."""
    campaign, surrogate_id, now = ticket.workforce.campaign, ticket.surrogate_id, timezone.now()
    if "undo" in request.POST:
        if withdrawal_undo(campaign=campaign, surrogate_id=surrogate_id, now=now):
            messages.success(request, _("Welcome back. The withdrawal of your consent was canceled."))
    elif request.POST.get("withdraw") == "yes":
        withdrawal_ask(campaign=campaign, surrogate_id=surrogate_id, now=now)
        messages.success(request, _("You've withdrawn your consent. Submitted work is still paid."))
    return redirect("statement", token=token)


def _erased(request: HttpRequest, ticket: Ticket, token: str) -> HttpResponse:
    """Erase the person's identity after confirmation; afterwards the statement no longer exists."""
    if request.POST["erase"] != "yes":
        return redirect("statement", token=token)
    try:
        person_erase(ticket=ticket, now=timezone.now())
    except NotSettled:
        messages.error(
            request,
            _("Some of your submitted work hasn't been decided on or paid yet. Try again after all of it is paid."),
        )
        return redirect("statement", token=token)
    return render(request, "workforces/erased.html")


def _over(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """Show that an address has expired; a new one is only sent to the person through the marketplace."""
    sent = request.method == "POST" and statement_send(ticket=ticket, now=timezone.now())
    return render(
        request,
        "workforces/statement_over.html",
        {"can_be_sent": KINDS[ticket.workforce.kind].writes, "sent": sent},
        status=410,
    )
