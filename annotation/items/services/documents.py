"""Importing pages into a campaign."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from django.utils import timezone

from annotation.models import Campaign, CampaignDocument
from documents.html import tokens as tokens_module
from documents.html.errors import DocumentError
from documents.html.sandbox import ParsedPage, parsed_in_order
from documents.html.tokens import CandidateRules
from documents.intake import IncomingPage
from documents.services import limits, page_store, tokenization_record
from jobs.work import Work

MAX_ERRORS_KEPT = 1_000

Parsed = Iterator[tuple[IncomingPage, ParsedPage | DocumentError]]


def documents_parse(pages: Iterable[IncomingPage]) -> Parsed:
    """Yield each page with its parsed form or its error, in order; child processes with limits parse them."""
    return parsed_in_order(pages, lambda page: page.raw, CandidateRules(), limits())


def documents_import(
    *,
    work: Work,
    campaign: Campaign,
    pages: Iterable[IncomingPage],
    parse: Callable[[Iterable[IncomingPage]], Parsed] = documents_parse,
) -> dict[str, Any]:
    """Import pages into a campaign, each in a step of its own; a bad page is reported and the rest continue.

    If the campaign already has a page of that name, later imports of items use the new page. Pages from outside are
    parsed by `documents_parse`.
    """
    result = {"imported": 0, "failed": 0, "errors": [], **work.job.result}
    start = result.get("next", 0)
    coming = islice(pages, start, None)
    for index, (incoming, parsed) in enumerate(parse(coming), start=start):
        if incoming.error or isinstance(parsed, DocumentError):
            _note_error(result, incoming.where, incoming.error or str(parsed))
            with work.step(done=index + 1, next=index + 1, **_kept(result)):
                pass
        else:
            _import_one(work, campaign, incoming, parsed, index, result)
    if not result["imported"] and not result["failed"]:
        raise DocumentError("no page was found: expected .html files, or JSON lines with a field html")
    return result


def _import_one(
    work: Work, campaign: Campaign, incoming: IncomingPage, page: ParsedPage, index: int, result: dict[str, Any]
) -> None:
    """Store a parsed page, and note it in the campaign."""
    title = (incoming.title or page.title or incoming.name)[:500]
    sha256, tokens_sha256 = page_store(page)
    result["imported"] += 1
    with work.step(done=index + 1, next=index + 1, message=incoming.where, **_kept(result)):
        tokenization = tokenization_record(
            page=page,
            sha256=sha256,
            tokens_sha256=tokens_sha256,
            title=title,
            url=incoming.url[:2000],
            source=tokens_module.SOURCE,
            version=tokens_module.VERSION,
            now=timezone.now(),
        )
        CampaignDocument.objects.update_or_create(
            campaign=campaign, name=incoming.name[:500], defaults={"tokenization": tokenization}
        )


def _kept(result: dict[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in ("imported", "failed", "errors")}


def _note_error(result: dict[str, Any], where: str, error: str) -> None:
    result["failed"] += 1
    if len(result["errors"]) < MAX_ERRORS_KEPT:
        result["errors"].append({"where": where, "error": error})
