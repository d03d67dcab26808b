"""The base of the readers: a reader learns from pages and answers a page."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from baselines.nq.predictions import Tokens
from baselines.readers.pages import Page
from baselines.readers.vectors import WordVectors


class Said(NamedTuple):
    """A predicted answer as half-open ranges of tokens; ``short`` is None if there is only a long answer."""

    long: Tokens
    short: Tokens | None
    long_score: float
    short_score: float


class Reader(nn.Module):
    """A model that answers questions about pages."""

    key: ClassVar[str]
    about: ClassVar[str]
    vectors: WordVectors  # fixed: they aren't among the weights

    @abstractmethod
    def loss(self, pages: Sequence[Page]) -> Tensor:
        """Return the mean loss of pages."""

    @abstractmethod
    def answer(self, page: Page) -> Said:
        """Return the best answer to a page that has a passage, however weak: its scores say how weak it is."""

    def learns_from(self, page: Page) -> bool:
        """Return whether a page is learned from."""
        return True


def best_of(starts: Tensor, ends: Tensor, longest: int) -> tuple[float, int, int]:
    """Return the score, first and last word of the best span of at most ``longest`` words."""
    scores = starts.unsqueeze(1) + ends.unsqueeze(0)
    allowed = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)
    best = int(scores.masked_fill(~allowed, -torch.inf).argmax())
    first, last = divmod(best, len(ends))
    return float(scores[first, last]), first, last


def tokens_of(tokens: Sequence[int], first: int, last: int) -> Tokens:
    """Return the half-open range of a page's tokens that words of a passage span."""
    return tokens[first], tokens[last] + 1
