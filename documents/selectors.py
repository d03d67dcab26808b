"""Reading documents back. What is stored never changes, so the last few are kept in memory."""

from functools import lru_cache

from django.core.files.storage import storages
from isal import igzip

from documents.html.display import box_html
from documents.html.surroundings import Surroundings, surroundings
from documents.html.tokens import Tokenization, load
from documents.models import Tokenization as TokenizationRow
from documents.paths import display_path, page_path, tokens_path


def _read(name: str) -> bytes:
    with storages["documents"].open(name) as file:
        return bytes(igzip.decompress(file.read()))


@lru_cache(maxsize=64)
def tokenization_load(tokens_sha256: str) -> Tokenization:
    """Return tokens and candidates by content address."""
    return load(_read(tokens_path(tokens_sha256)))


@lru_cache(maxsize=32)
def page_text(sha256: str) -> str:
    """Return the canonical text of a page by content address."""
    return _read(page_path(sha256)).decode()


@lru_cache(maxsize=32)
def page_display(tokens_sha256: str) -> str:
    """Return a page for reading."""
    return _read(display_path(tokens_sha256)).decode()


@lru_cache(maxsize=256)
def box_display(sha256: str, tokens_sha256: str, candidate_index: int) -> str:
    """Return one candidate for reading, each of its words marked with its token index."""
    page = tokenization_load(tokens_sha256)
    return box_html(page_text(sha256), page.tokens, page.candidates[candidate_index])


@lru_cache(maxsize=256)
def box_surroundings(tokens_sha256: str, candidate_index: int) -> Surroundings:
    """Return the context of one candidate, for reading."""
    return surroundings(page_display(tokens_sha256), candidate_index)


def tokenization_of(row: TokenizationRow | None) -> Tokenization | None:
    """Return the tokens and candidates that an item pins, if it has a document."""
    return tokenization_load(row.sha256) if row is not None else None
