"""Pages about a person's own account."""

from allauth.core.internal.ratelimit import get_ip
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.adapter import INVITATION_KEY
from accounts.context import person_mark
from accounts.identities import user_erase, user_rename
from accounts.models import User
from accounts.permissions import signed_in
from accounts.services import (
    InvitationError,
    InvitationUsedBefore,
    RoleRefused,
    invitation_accept,
    invitation_find,
    token_hash,
)
from web.error_texts import error_text


@require_GET
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the invitation that a person followed in the session, and remove its token from the address."""
    request.session[INVITATION_KEY] = token_hash(token)
    return redirect("invitation-accept")


@require_http_methods(["GET", "POST"])
def invitation_page(request: HttpRequest) -> HttpResponse:
    """Show the invitation of this session and accept it."""
    now = timezone.now()
    token_sha256 = request.session.get(INVITATION_KEY, "")
    try:
        invited = invitation_find(token_sha256=token_sha256, now=now)
        if request.method == "POST" and isinstance(request.user, User):
            mark = salted_hmac("quorate.address", get_ip(request)).hexdigest()[:16]
            invitation_accept(token_sha256=token_sha256, user=request.user, now=now, mark=mark)
            request.session.pop(INVITATION_KEY, None)
            return redirect("home")
    except RoleRefused as error:
        messages.error(request, error_text(error))
        return redirect("home")
    except InvitationError as error:
        request.session.pop(INVITATION_KEY, None)
        over = {"invitation": None, "used_before": isinstance(error, InvitationUsedBefore)}
        return render(request, "accounts/invitation.html", over, status=410)
    return render(request, "accounts/invitation.html", {"invitation": invited})


@never_cache
@require_GET
def session(request: HttpRequest) -> HttpResponse:
    """Tell a page of ours who is logged in, by their mark, and return the CSRF token for sending."""
    return JsonResponse({"person": person_mark(request.user), "token": get_token(request)})


@login_required
@require_http_methods(["GET", "POST"])
def privacy(request: HttpRequest) -> HttpResponse:
    """Show the data that is kept about a person; POST changes their name or erases the account."""
    user = signed_in(request)
    if "name" in request.POST:
        user_rename(user=user, name=request.POST["name"])
        messages.success(request, _("Saved."))
        return redirect("privacy")
    if request.method == "POST" and request.POST.get("confirm") == user.email:
        user_erase(user=user, actor_id=user.surrogate_id, now=timezone.now())
        logout(request)
        messages.success(request, _("Your account and personal data have been erased."))
        return redirect("account_login")
    if request.method == "POST":
        messages.error(request, _("To erase your account, enter the exact email address of your account."))
    return render(request, "accounts/privacy.html")
