"""The page on which a person chooses which emails they get."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.permissions import signed_in
from annotation.models import MutedNotification, NotificationKind
from annotation.notifications.services import kinds_choose


@login_required
@require_http_methods(["GET", "POST"])
def notifications(request: HttpRequest) -> HttpResponse:
    """Show the kinds of email, and turn them on or off."""
    user = signed_in(request)
    if request.method == "POST":
        kinds_choose(user=user, wanted=request.POST.getlist("kind"))
        messages.success(request, _("Saved."))
        return redirect("notifications")
    off = set(MutedNotification.objects.filter(user=user).values_list("kind", flat=True))
    kinds = [(kind.value, kind.label, kind not in off) for kind in NotificationKind]
    return render(request, "annotation/notifications.html", {"kinds": kinds})
