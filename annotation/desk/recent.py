"""An annotator's last answers, and opening one again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.parameters import whole_number
from accounts.permissions import Action, signed_in
from accounts.selectors import consent_is_current
from annotation.access import campaign_for
from annotation.desk.problems import problem_of
from annotation.work.selectors import UNDO_SECONDS, recent_answers
from annotation.work.services.undo import NothingToUndo, OpenedAgain, submission_undo


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def recent(request: HttpRequest, slug: str) -> HttpResponse:
    """List the last answers of the person; POST opens one of them again."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    surrogate_id, now = signed_in(request).surrogate_id, timezone.now()
    if request.method == "POST":
        wanted = whole_number(request.POST.get("annotation"), 0)
        try:
            submission_undo(campaign=campaign, surrogate_id=surrogate_id, now=now, annotation_id=wanted)
        except (NothingToUndo, OpenedAgain) as error:
            messages.error(request, problem_of(error).text)
            return redirect("recent", slug=slug)
        return redirect("work", slug=slug)
    agrees = consent_is_current(scope_id=campaign.pk, surrogate_id=surrogate_id)
    answers = recent_answers(campaign=campaign, surrogate_id=surrogate_id, now=now, may_open=agrees)
    context = {"campaign": campaign, "answers": answers, "minutes": UNDO_SECONDS // 60}
    return render(request, "annotation/recent.html", context)
