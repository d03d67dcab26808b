"""The interface of a tagger."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from sources.rules.words import Word


class TaggerMissing(RuntimeError):
    """A requirement of a tagger isn't installed; the message says how to install it."""


class Tagger(Protocol):
    """Tags each word of a query."""

    key: ClassVar[str]
    cannot: ClassVar[dict[str, str]]  # by rule: what it does not see

    @property
    def version(self) -> str:
        """Return the versions on which its tags depend, for the report."""
        ...

    def tag(self, queries: Iterable[str]) -> Iterator[list[Word]]:
        """Yield the words of each query, in the order of the queries."""
        ...
