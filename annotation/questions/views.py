"""Questions: an annotator's own with their answers, and the manager's page on which they are answered."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.permissions import Action, signed_in
from annotation.access import campaign_for
from annotation.models import Campaign, FaqEntry, ItemReport, Purpose
from annotation.questions.selectors import MOST_FAQ, faq_of, own_questions, questions_open
from annotation.questions.services import QuestionError, answers_read, faq_publish, faq_retire, question_answer
from web.error_texts import error_text

MOST_SHOWN = 50


@login_required
@never_cache
@require_GET
def own(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a person their questions with the answers, and the published ones."""
    campaign = campaign_for(request, slug, Action.ANNOTATE)
    surrogate_id = signed_in(request).surrogate_id
    asked = own_questions(campaign, surrogate_id)
    answers_read(campaign=campaign, surrogate_id=surrogate_id, now=timezone.now())
    context = {"campaign": campaign, "asked": asked, "faq": faq_of(campaign)[:MOST_FAQ]}
    return render(request, "annotation/own_questions.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def questions(request: HttpRequest, slug: str) -> HttpResponse:
    """List annotators' questions and the published ones; POST publishes a question that managers wrote."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    if request.method == "POST":
        try:
            faq_publish(
                campaign=campaign,
                question=request.POST.get("question", ""),
                answer=request.POST.get("answer", ""),
                actor_id=signed_in(request).surrogate_id,
                now=timezone.now(),
            )
            messages.success(request, _("Published. Annotators now see the question and answer beside the guidelines."))
        except QuestionError as error:
            messages.error(request, error_text(error))
        return redirect("campaign-questions", slug=slug)
    return _page(request, campaign)


def _page(request: HttpRequest, campaign: Campaign, refused: int | None = None) -> HttpResponse:
    """Show all questions; if an answer was refused, keep the text that was entered."""
    waiting = questions_open(campaign)[:MOST_SHOWN]
    asked = [
        (one, one.item.batch.purpose == Purpose.GOLD, request.POST if one.pk == refused else {}) for one in waiting
    ]
    context = {"campaign": campaign, "asked": asked, "faq": faq_of(campaign)[:MOST_FAQ]}
    return render(request, "annotation/questions.html", context, status=200 if refused is None else 422)


@login_required
@require_POST
def answer(request: HttpRequest, slug: str, report_id: int) -> HttpResponse:
    """Answer one question, or close it without an answer."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    report = get_object_or_404(ItemReport.objects.select_related("item__batch"), pk=report_id, item__campaign=campaign)
    text = "" if "settle" in request.POST else request.POST.get("answer", "").strip()
    if not text and "settle" not in request.POST:
        messages.error(request, _("Write an answer, or close the question without one."))
        return _page(request, campaign, report.pk)
    faq = request.POST.get("question", "").strip() if "publish" in request.POST and text else ""
    if "publish" in request.POST and text and not faq:
        messages.error(request, _("Enter the question to publish, worded so that everyone understands it."))
        return _page(request, campaign, report.pk)
    try:
        question_answer(
            report=report, answer=text, faq=faq, actor_id=signed_in(request).surrogate_id, now=timezone.now()
        )
        messages.success(request, _("The question is closed."))
    except QuestionError as error:
        messages.error(request, error_text(error))
    return redirect("campaign-questions", slug=slug)


@login_required
@require_POST
def retire(request: HttpRequest, slug: str, entry_id: int) -> HttpResponse:
    """Unpublish a question and its answer."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    entry = get_object_or_404(FaqEntry, pk=entry_id, campaign=campaign)
    faq_retire(entry=entry, actor_id=signed_in(request).surrogate_id, now=timezone.now())
    return redirect("campaign-questions", slug=slug)
