"""How documents come in: bytes into storage, then rows."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from django.utils import timezone
from isal import igzip

from accounts.transactions import require_transaction
from annotation.documents import tokens as tokens_module
from annotation.documents.canonical import sha256_of
from annotation.documents.errors import DocumentError
from annotation.documents.intake import IncomingPage
from annotation.documents.sandbox import Limits, PageParser, ParsedPage
from annotation.documents.tokens import CandidateRules, dump
from annotation.models import Campaign, CampaignDocument, Document, Tokenization
from annotation.paths import display_path, page_path, tokens_path
from jobs.work import Work

MAX_ERRORS_KEPT = 1_000


def limits() -> Limits:
    """Return what one page may cost on this installation."""
    chosen: dict[str, Any] = dict(settings.DOCUMENT_LIMITS)
    return replace(Limits(), **chosen)


def store(name: str, data: bytes) -> None:
    """Put bytes under a name made of their content; there already is as good as stored."""
    storage: Storage = storages["documents"]
    if not storage.exists(name):
        storage.save(name, ContentFile(igzip.compress(data, 2)))


def page_store(page: ParsedPage) -> tuple[str, str]:
    """Write a parsed page to storage; return the content addresses of its text and of its tokens."""
    sha256 = sha256_of(page.text)
    columns = dump(page.tokenization)
    tokens_sha256 = hashlib.sha256(sha256.encode() + columns).hexdigest()
    store(page_path(sha256), page.text.encode())
    store(tokens_path(tokens_sha256), columns)
    store(display_path(tokens_sha256), page.display.encode())
    return sha256, tokens_sha256


def tokenization_record(
    *, page: ParsedPage, sha256: str, tokens_sha256: str, title: str, url: str, source: str, version: int, now: datetime
) -> Tokenization:
    """Return the row of a stored page's tokenization, made if it is new."""
    require_transaction()
    document, _ = Document.objects.get_or_create(
        sha256=sha256, title=title, url=url, defaults={"size": len(page.text.encode()), "created_at": now}
    )
    tokenization, _ = Tokenization.objects.get_or_create(
        document=document,
        source=source,
        version=version,
        sha256=tokens_sha256,
        defaults={
            "token_count": len(page.tokenization.tokens),
            "candidate_count": len(page.tokenization.candidates),
            "created_at": now,
        },
    )
    return tokenization


def documents_import(*, work: Work, campaign: Campaign, pages: Iterable[IncomingPage]) -> dict[str, Any]:
    """Import pages into a campaign, each a step of its own; a bad page is listed and the rest go on.

    A page whose name the campaign knows is replaced for items that are imported from then on.
    """
    result = {"imported": 0, "failed": 0, "errors": [], **work.job.result}
    start = result.get("next", 0)
    with PageParser(CandidateRules(), limits()) as parser:
        for index, incoming in enumerate(pages):
            if index < start:
                continue
            error = _import_one(work, campaign, parser, incoming, index, result)
            if error:
                _note_error(result, incoming.where, error)
                with work.step(done=index + 1, next=index + 1, **_kept(result)):
                    pass
    if not result["imported"] and not result["failed"]:
        raise DocumentError("no page was found: expected .html files, or JSON lines with a field html")
    return result


def _import_one(
    work: Work, campaign: Campaign, parser: PageParser, incoming: IncomingPage, index: int, result: dict[str, Any]
) -> str:
    """Import one page; return what is wrong with it, or nothing."""
    if incoming.error:
        return incoming.error
    try:
        page = parser.parse(incoming.raw)
    except DocumentError as error:
        return str(error)
    title = (incoming.title or page.title or incoming.name)[:500]
    sha256, tokens_sha256 = page_store(page)
    result["imported"] += 1
    with work.step(done=index + 1, next=index + 1, message=incoming.where, **_kept(result)):
        tokenization = tokenization_record(
            page=page, sha256=sha256, tokens_sha256=tokens_sha256, title=title, url=incoming.url[:2000],
            source=tokens_module.SOURCE, version=tokens_module.VERSION, now=timezone.now(),
        )  # fmt: skip
        CampaignDocument.objects.update_or_create(
            campaign=campaign, name=incoming.name[:500], defaults={"tokenization": tokenization}
        )
    return ""


def _kept(result: dict[str, Any]) -> dict[str, Any]:
    return {name: result[name] for name in ("imported", "failed", "errors")}


def _note_error(result: dict[str, Any], where: str, error: str) -> None:
    result["failed"] += 1
    if len(result["errors"]) < MAX_ERRORS_KEPT:
        result["errors"].append({"where": where, "error": error})
