"""The members of a campaign, and invitations."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Invitation, Membership, Role, RoleWaiver, Scope
from accounts.permissions import Action, signed_in
from accounts.selectors import memberships_of_scope, shared_addresses
from accounts.services import (
    RoleRefused,
    invitation_create,
    invitation_withdraw,
    invitations_send,
    joining_restrict,
    membership_revoke,
    role_waiver_grant,
)
from annotation.access import campaign_for
from annotation.models import Campaign
from annotation.people.forms import InvitationForm, JoiningForm, NamedInvitationsForm
from web.error_texts import error_text

INVITED_BY_MANAGERS = (Role.ANNOTATOR, Role.EXPERT)


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """List members; POST creates an invitation link, which is shown once, or emails one to each named person."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    # Managers invite who works; who may manage or take data out, administrators decide.
    roles = list(Role) if signed_in(request).is_admin else list(INVITED_BY_MANAGERS)
    what = request.POST.get("what", "link") if request.method == "POST" else ""
    form = InvitationForm(roles, request.POST if what == "link" else None)
    named = NamedInvitationsForm(roles, request.POST if what == "named" else None)
    scope = Scope.objects.get(pk=campaign.pk)
    domain = JoiningForm(
        request.POST if what == "domain" else None,
        initial={"domain": scope.email_domain, "provider": scope.login_provider},
    )
    if what in ("named", "domain") and _done(request, campaign, named if what == "named" else domain):
        return redirect("campaign-people", slug=slug)
    link = None
    if what == "link" and form.is_valid():
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
        "named": named,
        "domain": domain,
        "shared": shared_addresses(campaign.pk),
        "link": link,
        "link_role": Role(form.cleaned_data["role"]).label if link else "",
        "may_remove": list(roles),
        "waivers": RoleWaiver.objects.filter(scope_id=campaign.pk).select_related("user").order_by("pk")[:100],
    }
    return render(request, "annotation/people.html", context)


def _done(request: HttpRequest, campaign: Campaign, form: NamedInvitationsForm | JoiningForm) -> bool:
    """Save one of the smaller forms, and return whether it was valid."""
    if not form.is_valid():
        return False
    data, actor_id, now = form.cleaned_data, signed_in(request).surrogate_id, timezone.now()
    if isinstance(form, JoiningForm):
        joining_restrict(
            scope_id=campaign.pk,
            domain=data["domain"],
            provider=data.get("provider"),
            actor_id=actor_id,
            now=now,
        )
        messages.success(request, _("Saved."))
        return True
    sent = invitations_send(
        scope_id=campaign.pk,
        role=data["role"],
        addresses=data["addresses"],
        days=data["days"],
        label=campaign.title,
        link=lambda token: settings.PLATFORM_URL + reverse("invitation", args=[token]),
        actor_id=actor_id,
        now=now,
    )
    said = ngettext("%(number)s person was invited by email.", "%(number)s people were invited by email.", sent)
    messages.success(request, said % {"number": sent})
    if settings.EMAIL_BACKEND.endswith("console.EmailBackend"):
        messages.warning(request, _("Email isn't configured. Messages are printed to the server console."))
    return True


def _check_role(request: HttpRequest, role: str) -> None:
    if role not in INVITED_BY_MANAGERS and not signed_in(request).is_admin:
        raise Http404


@login_required
@require_POST
def revoke(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    """Remove a role. Only administrators can remove managers and people who download data."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    member = get_object_or_404(Membership.objects.select_related("user"), pk=membership_id, scope_id=campaign.pk)
    _check_role(request, member.role)
    actor_id = signed_in(request).surrogate_id
    membership_revoke(membership_id=membership_id, scope_id=campaign.pk, actor_id=actor_id, now=timezone.now())
    said = _("%(name)s no longer has the role “%(role)s”. To restore it, send a new invitation.")
    messages.success(request, said % {"name": member.user.name, "role": member.get_role_display()})
    return redirect("campaign-people", slug=slug)


@login_required
@require_POST
def waive(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    """Allow a member to manage the campaign and to annotate or judge in it; administrators only."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    actor = signed_in(request)
    if not actor.is_admin:
        raise Http404
    member = get_object_or_404(Membership.objects.select_related("user"), pk=membership_id, scope_id=campaign.pk)
    try:
        role_waiver_grant(
            user=member.user,
            scope_id=campaign.pk,
            reason=request.POST.get("reason", ""),
            actor_id=actor.surrogate_id,
            now=timezone.now(),
        )
        messages.success(request, _("Saved. Releases of this campaign will disclose that this person has both roles."))
    except RoleRefused as error:
        messages.error(request, error_text(error))
    return redirect("campaign-people", slug=slug)


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    """Make an invitation link useless."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    invitation = get_object_or_404(Invitation, pk=invitation_id, scope_id=campaign.pk)
    _check_role(request, invitation.role)
    actor_id = signed_in(request).surrogate_id
    invitation_withdraw(invitation_id=invitation_id, scope_id=campaign.pk, actor_id=actor_id, now=timezone.now())
    return redirect("campaign-people", slug=slug)
