"""The border of pages: errors in the language of the person who reads."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

from web.errors import KeyedError, shown
from web.marks import Plural
from web.sentences import SENTENCES


def error_text(error: Exception) -> str:
    """Return what an error says, translated; one without a key says what it says."""
    return keyed_text(error.key, error.data) if isinstance(error, KeyedError) else str(error)


def keyed_text(key: str, data: Mapping[str, Any]) -> str:
    """Return the sentence of an error that was kept by its key and data, translated."""
    text = SENTENCES.get(key, key)  # one that a newer version kept
    if isinstance(text, Plural):
        return ngettext(text.one, text.more, data[text.number]) % shown(data)
    return gettext(text) % shown(data)
