"""Errors that people read: a key and data, which each border turns into a sentence of its own.

Pages translate it (`web.error_texts`); `str` of an error is the English sentence, for commands, logs and rows.
"""

from collections.abc import Mapping
from typing import Any, Self

from web.marks import Plural
from web.sentences import SENTENCES


class KeyedError(ValueError):
    """Something that was asked for cannot be done.

    Attributes
    ----------
    key
        What is wrong, of `web.sentences.SENTENCES`; it does not change when the sentence does.
    data
        What the sentence names: numbers and texts, as JSON.
    """

    def __init__(self, key: str, **data: Any) -> None:
        super().__init__(key)
        self.key = key
        self.data = data

    def __str__(self) -> str:
        return english(self.key, self.data)

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return another error as one of this class, with what it said."""
        return cls(error.key, **error.data) if isinstance(error, KeyedError) else cls("said", said=str(error))


def english(key: str, data: Mapping[str, Any]) -> str:
    """Return the sentence of an error in English."""
    text = SENTENCES.get(key, key)  # one that a newer version kept
    if isinstance(text, Plural):
        text = text.one if data[text.number] == 1 else text.more
    return text % shown(data)


def shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data as sentences show it: large numbers with separators."""
    return {name: f"{value:,}" if isinstance(value, int) else value for name, value in data.items()}
