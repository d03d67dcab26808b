"""Translation of errors for pages, in the language of the reader."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from web.errors import KeyedError, shown
from web.marks import Plural
from web.sentences import SENTENCES


def error_text(error: Exception) -> str:
    """Return the message of an error, translated; an error without a key is returned unchanged."""
    return keyed_text(error.key, error.data) if isinstance(error, KeyedError) else str(error)


def keyed_text(key: str, data: Mapping[str, Any]) -> str:
    """Return the translated sentence of an error that was stored as its key and data."""
    text = SENTENCES.get(key, key)  # one that a newer version kept
    if isinstance(text, Plural):
        return ngettext(text.one, text.more, data[text.number]) % shown(data)
    return gettext(text) % shown(data)
