"""Who works on a campaign, and invitations."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Invitation, Membership, Role
from accounts.permissions import Action, signed_in
from accounts.selectors import memberships_of_scope
from accounts.services import invitation_create, invitation_withdraw, membership_revoke
from annotation.forms import InvitationForm
from annotation.views.access import campaign_for


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List members; POST makes an invitation, whose link is shown once."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    # Managers invite who works; who may manage or take data out, administrators decide.
    roles = list(Role) if signed_in(request).is_admin else [Role.ANNOTATOR, Role.EXPERT]
    form = InvitationForm(roles, request.POST or None)
    link = None
    if request.method == "POST" and form.is_valid():
        actor_id = signed_in(request).surrogate_id
        token = invitation_create(
            scope_id=campaign.pk, label=campaign.title, actor_id=actor_id, now=timezone.now(), **form.cleaned_data
        )
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
    invitations = Invitation.objects.filter(scope_id=campaign.pk, uses_left__gt=0).order_by("-pk")[:100]
    context = {
        "campaign": campaign,
        "invitations": invitations,
        "members": memberships_of_scope(campaign.pk)[:1000],
        "form": form,
        "link": link,
    }
    return render(request, "annotation/people.html", context)


@login_required
@require_POST
def revoke(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    """Take a role away."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    get_object_or_404(Membership, pk=membership_id, scope_id=campaign.pk)
    actor_id = signed_in(request).surrogate_id
    membership_revoke(membership_id=membership_id, scope_id=campaign.pk, actor_id=actor_id, now=timezone.now())
    return redirect("campaign-people", slug=slug)


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Make an invitation link useless."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    get_object_or_404(Invitation, pk=invitation_id, scope_id=campaign.pk)
    actor_id = signed_in(request).surrogate_id
    invitation_withdraw(invitation_id=invitation_id, scope_id=campaign.pk, actor_id=actor_id, now=timezone.now())
    return redirect("campaign-people", slug=slug)
