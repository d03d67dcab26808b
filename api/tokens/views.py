"""The page on which people create and revoke their tokens."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.permissions import signed_in
from api.models import ApiToken
from api.tokens.forms import TokenForm
from api.tokens.selectors import campaigns_for, tokens_of
from api.tokens.services import TokenError, token_create, token_revoke
from web.error_texts import error_text


@login_required
@require_http_methods(["GET", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List a person's tokens; POST creates one, whose secret is shown once."""
    user, now, secret = signed_in(request), timezone.now(), ""
    form = TokenForm(campaigns_for(user), request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            _token, secret = token_create(user=user, now=now, **form.cleaned_data)
        except TokenError as error:
            form.add_error(None, error_text(error))
    if secret:
        form = TokenForm(campaigns_for(user))
    context = {"form": form, "secret": secret, "tokens": tokens_of(user)[:200], "now": now}
    response = render(request, "api/tokens.html", context)
    response["Cache-Control"] = "private, no-store"
    return response


@login_required
@require_POST
def revoke(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """Revoke one of a person's own tokens."""
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=token_id, user=signed_in(request))
    token_revoke(token=token, now=timezone.now())
    messages.success(request, _("Token revoked. Programs that use it are refused from now on."))
    return redirect("api-tokens")
