"""The right answers for the content of a page: drawn from the text itself with a seed, or known from a table.

A drawn world needs no memory: the same seed and text give the same truth in every process. So the preparation of the
material and the simulated crowd agree without communication, and a resumed replay continues as it began.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from simulation.model import CrowdModel, Floats


def plain(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def chance_of(*parts: object) -> np.random.Generator:
    """Return a random generator whose seed is derived from some values only."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


@dataclass(frozen=True, slots=True)
class Judged:
    """An item to label: the index of its true label, and careful readers' shares of labels."""

    true: int
    said: Floats


class World(Protocol):
    """The interface to the right labels of pairs of texts."""

    def pair(self, question: str, answer: str) -> Judged:
        """Return the right labels of a pair."""


@dataclass(frozen=True)
class DrawnWorld:
    """A world in which each pair is an item of a crowd's model.

    The exceptions are pairs with an ``obvious`` label, which all careful readers give.
    """

    model: CrowdModel
    seed: int
    obvious: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Of each world its own: a cache on the method would keep worlds alive.
        object.__setattr__(self, "_pair", lru_cache(maxsize=100_000)(self._drawn))

    def pair(self, question: str, answer: str) -> Judged:
        """Return the right labels of a pair."""
        found: Judged = self._pair(plain(question), plain(answer))  # type: ignore[attr-defined]
        return found

    def _drawn(self, question: str, answer: str) -> Judged:
        known = self.obvious.get((question, answer))
        if known is not None:
            return Judged(known, np.eye(len(self.model.labels))[known])
        true, said = self.model.items(1, chance_of(self.seed, question, answer))
        return Judged(int(true[0]), said[0])


@dataclass(frozen=True)
class KnownWorld:
    """A world in which the true label of each pair is in a table, and careful readers see it."""

    labels: tuple[int, ...]
    truth: Mapping[tuple[str, str], int]
    otherwise: int
    hard: frozenset[tuple[str, str]] = frozenset()  # of these even careful readers say anything
    _found: dict[tuple[str, str], Judged] = field(default_factory=dict, compare=False)

    def pair(self, question: str, answer: str) -> Judged:
        """Return the right labels of a pair."""
        key = (plain(question), plain(answer))
        if key not in self._found:
            true = self.labels.index(self.truth.get(key, self.otherwise))
            said = (
                np.full(len(self.labels), 1 / len(self.labels)) if key in self.hard else np.eye(len(self.labels))[true]
            )
            self._found[key] = Judged(true, said)
        return self._found[key]
