"""Errors for people: a key and data, which each interface turns into a sentence.

Pages translate the sentence (`web.error_texts`); `str` of an error is in English, for commands, logs and rows.
"""

from collections.abc import Mapping
from typing import Any, Self

from web.marks import Plural
from web.sentences import SENTENCES


class KeyedError(ValueError):
    """A request that can't be fulfilled.

    Attributes
    ----------
    key
        The kind of error, a key of `web.sentences.SENTENCES`; it stays the same if the sentence changes.
    data
        The values in the sentence: numbers and texts, as JSON.
    """

    def __init__(self, key: str, **data: Any) -> None:
        super().__init__(key)
        self.key = key
        self.data = data

    def __str__(self) -> str:
        return english(self.key, self.data)

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return another error as an error of this class, with the same message."""
        return cls(error.key, **error.data) if isinstance(error, KeyedError) else cls("said", said=str(error))


def english(key: str, data: Mapping[str, Any]) -> str:
    """Return the sentence of an error in English."""
    text = SENTENCES.get(key, key)  # one that a newer version kept
    if isinstance(text, Plural):
        text = text.one if data[text.number] == 1 else text.more
    return text % shown(data)


def shown(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data in the form used in sentences: large numbers have separators."""
    return {name: f"{value:,}" if isinstance(value, int) else value for name, value in data.items()}
