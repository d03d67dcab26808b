"""A pilot: items that several people answer before the real ones."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.permissions import Action, can, signed_in
from annotation.access import campaign_for
from annotation.campaigns.forms import GuidelineForm, PilotForm
from annotation.campaigns.selectors.campaigns import guideline_current
from annotation.items.selectors import pilot_items
from annotation.items.services.items import pilot_draw
from annotation.models import BatchState, Purpose


@login_required
@require_GET
def pilot(request: HttpRequest, slug: str) -> HttpResponse:
    """Show where colleagues disagreed in the pilot, and the next steps."""
    campaign = campaign_for(request, slug, Action.SEE_ANSWERS)
    found = pilot_items(campaign)
    answered = found["agreeing"] + len(found["differing"])
    drafts = list(campaign.batches.filter(state=BatchState.DRAFT).order_by("ordinal"))
    context = {
        "campaign": campaign,
        "may_manage": can(signed_in(request), Action.MANAGE, campaign.pk),
        **found,
        "answered": answered,
        "share": 100 * found["agreeing"] / answered if answered else None,
        "next_batch": next((batch for batch in drafts if batch.purpose == Purpose.WORK), None),
        "pilot_batch": next((batch for batch in drafts if batch.purpose == Purpose.PILOT), None),
        "form": PilotForm(),
        "guideline_form": GuidelineForm(initial={"body": guideline_current(campaign).body}),
    }
    return render(request, "annotation/pilot.html", context)


@login_required
@require_POST
def draw_pilot(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a pilot of imported items."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    form = PilotForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(f"{form[name].label}: {errors[0]}" for name, errors in form.errors.items()))
        return redirect("pilot", slug=slug)
    actor_id = signed_in(request).surrogate_id
    drawn = pilot_draw(campaign=campaign, actor_id=actor_id, now=timezone.now(), **form.cleaned_data)
    if not drawn:
        messages.error(request, _("There are no items left for a pilot. Import items first."))
        return redirect("pilot", slug=slug)
    said = ngettext(
        "%(n)s item drawn for the pilot. You can launch the pilot on this page.",
        "%(n)s items drawn for the pilot. You can launch the pilot on this page.",
        drawn,
    )
    messages.success(request, said % {"n": drawn})
    return redirect("campaign", slug=slug)
