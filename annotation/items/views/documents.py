"""The pages that a campaign has imported, as annotators will see them."""

from collections import Counter

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.permissions import Action
from annotation.access import campaign_for
from annotation.models import Campaign, CampaignDocument
from documents.html.tokens import Tokenization
from documents.selectors import page_display, tokenization_load
from web.tables import Cell, Column, QueryRows, Table, as_file

BOXES_SHOWN, WORDS_SHOWN = 500, 12
FEW_WORDS, MANY_BOXES = 30, 1000  # of a page: fewer or more are worth a look


@login_required
@require_GET
def documents(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the pages of a campaign, or send the list as a file."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    table = Table(QueryRows(campaign.documents.select_related("tokenization__document")), _columns(campaign))
    context = {"campaign": campaign, "table": table.page(request.GET)}
    return as_file(table, request.GET, name=f"{slug}-pages") or render(request, "annotation/documents.html", context)


def _columns(campaign: Campaign) -> list[Column]:
    def name(row: CampaignDocument) -> Cell:
        return Cell(row.name, reverse("campaign-document", args=[campaign.slug, row.pk]))

    return [
        Column("name", _("Name"), name, order="name"),
        Column("title", _("Title"), lambda row: row.tokenization.document.title),
        Column("tokens", _("Tokens"), lambda row: row.tokenization.token_count, is_number=True),
        Column("boxes", _("Boxes"), lambda row: row.tokenization.candidate_count, is_number=True),
        Column("bytes", _("Bytes"), lambda row: row.tokenization.document.size, is_number=True),
        Column(
            "tokenizer",
            _("Tokenizer"),
            lambda row: f"{row.tokenization.source}/{row.tokenization.version}",
            is_extra=True,
        ),
        Column("sha256", "SHA-256", lambda row: Cell(row.tokenization.document.sha256, is_code=True), is_extra=True),
    ]


@login_required
@require_GET
def document(request: HttpRequest, slug: str, document_id: int) -> HttpResponse:
    """Show a page as annotators will see it, with its boxes and what is worth a look."""
    campaign = campaign_for(request, slug, Action.MANAGE)
    rows = CampaignDocument.objects.select_related("tokenization__document")
    found = get_object_or_404(rows, pk=document_id, campaign=campaign)
    page = tokenization_load(found.tokenization.sha256)
    tags = frozenset(page.tags)
    boxes = [
        (number, box, page.texts[box.start_token], " ".join(_words(page, box.start_token, box.end_token, tags)))
        for number, box in enumerate(page.candidates[:BOXES_SHOWN])
    ]
    kinds = Counter(page.texts[box.start_token].strip("<>").partition(" ")[0] for box in page.candidates)
    context = {
        "campaign": campaign,
        "found": found,
        "boxes": boxes,
        "kinds": sorted(kinds.items()),
        "words": len(page.texts) - len(page.tags),
        "top": sum(box.top_level for box in page.candidates),
        "page": mark_safe(page_display(found.tokenization.sha256)),  # noqa: S308  sanitized at import
        "more": len(page.candidates) - len(boxes),
        "warnings": list(_warnings(page)),
    }
    return render(request, "annotation/document.html", context)


def _words(page: Tokenization, start: int, end: int, tags: frozenset[int]) -> list[str]:
    """Return the first words of a range of tokens."""
    found: list[str] = []
    for number in range(start, end):
        if number not in tags:
            found.append(page.texts[number])
            if len(found) == WORDS_SHOWN:
                return [*found, "…"]
    return found


def _warnings(page: Tokenization) -> list[str]:
    """Return what is odd about a page: annotators may find nothing to choose, or too much."""
    warnings = []
    if not page.candidates:
        warnings.append(_("This page has no paragraph, table, or list, so annotators can't choose a long answer."))
    if len(page.texts) - len(page.tags) < FEW_WORDS:
        warnings.append(_("This page has almost no text. It may be built by scripts, which the import doesn't run."))
    if len(page.candidates) > MANY_BOXES:
        warnings.append(_("This page has very many boxes, so finding one takes long."))
    return warnings
