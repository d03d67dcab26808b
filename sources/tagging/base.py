"""What a tagger does."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, Protocol

from sources.rules.words import Word


class TaggerMissing(RuntimeError):
    """What a tagger needs is not installed; the message says how to install it."""


class Tagger(Protocol):
    """Says what each word of a query is."""

    key: ClassVar[str]
    cannot: ClassVar[dict[str, str]]  # by rule: what it does not see

    @property
    def version(self) -> str:
        """Return what its tags depend on, for the report."""
        ...

    def tag(self, queries: Iterable[str]) -> Iterator[list[Word]]:
        """Yield the words of each query, in the order of the queries."""
        ...
