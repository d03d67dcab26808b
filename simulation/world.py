"""What is right of what a page shows: drawn from the text itself by a seed, or known from a table.

A world that is drawn needs no memory: the same seed and text lead to the same truth in every process, so that who prepares
material and who plays the crowd agree without telling each other, and a resumed replay continues as it began.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from simulation.model import CrowdModel, Floats


def plain(text: str) -> str:
    """Return a text with single blanks."""
    return " ".join(text.split())


def chance_of(*parts: object) -> np.random.Generator:
    """Return a random generator that follows from some values alone."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest))


@dataclass(frozen=True, slots=True)
class Judged:
    """A thing to label: the place of its true label, and the shares of labels that careful readers give it."""

    true: int
    said: Floats


class World(Protocol):
    """What there is to know of a pair of texts."""

    def pair(self, question: str, answer: str) -> Judged:
        """Return what is right of a pair."""


@dataclass(frozen=True)
class DrawnWorld:
    """A world in which each pair is an item of a crowd's model, but for some whose label is ``obvious`` to all who read."""

    model: CrowdModel
    seed: int
    obvious: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Of each world its own: a cache on the method would keep worlds alive.
        object.__setattr__(self, "_pair", lru_cache(maxsize=100_000)(self._drawn))

    def pair(self, question: str, answer: str) -> Judged:
        """Return what is right of a pair."""
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
    """A world in which the true label of each pair stands in a table; who reads with care sees it."""

    labels: tuple[int, ...]
    truth: Mapping[tuple[str, str], int]
    otherwise: int
    hard: frozenset[tuple[str, str]] = frozenset()  # of these even careful readers say anything
    _found: dict[tuple[str, str], Judged] = field(default_factory=dict, compare=False)

    def pair(self, question: str, answer: str) -> Judged:
        """Return what is right of a pair."""
        key = (plain(question), plain(answer))
        if key not in self._found:
            true = self.labels.index(self.truth.get(key, self.otherwise))
            said = (
                np.full(len(self.labels), 1 / len(self.labels)) if key in self.hard else np.eye(len(self.labels))[true]
            )
            self._found[key] = Judged(true, said)
        return self._found[key]
