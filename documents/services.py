"""Storing a parsed page: its bytes under names made of their content, then its rows."""

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from isal import igzip

from database.transactions import require_transaction
from documents.html.canonical import sha256_of
from documents.html.sandbox import Limits, ParsedPage
from documents.html.tokens import dump
from documents.models import Document, Tokenization
from documents.paths import display_path, page_path, tokens_path


def limits() -> Limits:
    """Return the parsing limits per page on this installation."""
    chosen: dict[str, Any] = dict(settings.DOCUMENT_LIMITS)
    return replace(Limits(), **chosen)


def store(name: str, data: bytes) -> None:
    """Store bytes under a name made of their content; if the name exists, nothing is written."""
    storage: Storage = storages["documents"]
    if not storage.exists(name):
        storage.save(name, ContentFile(igzip.compress(data, 2)))


def tokens_address(sha256: str, columns: bytes) -> str:
    """Return the content address of tokens and candidates, which depends also on their page."""
    return hashlib.sha256(sha256.encode() + columns).hexdigest()


def page_store(page: ParsedPage) -> tuple[str, str]:
    """Write a parsed page to storage; return the content addresses of its text and of its tokens."""
    sha256 = sha256_of(page.text)
    columns = dump(page.tokenization)
    tokens_sha256 = tokens_address(sha256, columns)
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
            "token_count": len(page.tokenization.texts),
            "candidate_count": len(page.tokenization.candidates),
            "created_at": now,
        },
    )
    return tokenization
