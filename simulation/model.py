"""A crowd in numbers: what items are like, and who answers them.

Of each item there is a true label, and a distribution of what people say who read it with care: its difficulty, and the
confusions that they share. A person reads with care with some probability, and otherwise follows a habit of their own.
What spammers do is the limit: no care at all.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long an answer takes, in seconds: log-normal, with people who differ and answers of one person that differ.

    Attributes
    ----------
    median
        Of an average person, for a text of ``words`` words.
    between, within
        Standard deviations of the logarithm: of people, and of the answers of a person.
    length
        The median grows with the number of words to this power.
    """

    median: float = 20.0
    between: float = 0.5
    within: float = 0.7
    length: float = 0.3
    words: int = 60


@dataclass(frozen=True, slots=True)
class CrowdModel:
    """A population of items and people, from which any number of either can be drawn.

    Attributes
    ----------
    labels
        The K labels in their order.
    prior
        Shares of true labels, shape (K,).
    says
        What people who read with care say of items with each true label, on average, shape (K, K): rows are true labels.
    alike
        How alike the items of one true label are, shape (K,): the concentration of a Dirichlet distribution around their
        row of ``says``. Small: easy items and hopeless ones; large: all alike.
    care
        How often each known person reads with care, shape (P,).
    habits
        What each says otherwise, shape (P, K).
    loads
        The share of all work that each does, shape (P,).
    pace
        How long answers take.
    """

    labels: tuple[str, ...]
    prior: Floats
    says: Floats
    alike: Floats
    care: Floats
    habits: Floats
    loads: Floats
    pace: Pace = field(default_factory=Pace)

    def items(self, count: int, chance: np.random.Generator) -> tuple[Places, Floats]:
        """Draw items; return their true labels, shape (count,), and what is said of each with care, shape (count, K)."""
        true = chance.choice(len(self.labels), size=count, p=self.prior)
        return true, self.said_of(true, chance)

    def said_of(self, true: Places, chance: np.random.Generator) -> Floats:
        """Draw what is said with care of items with given true labels, shape (items, K)."""
        drawn = chance.standard_gamma(np.maximum(self.says[true] * self.alike[true, None], 1e-3))
        drawn += 1e-12
        said: Floats = drawn / drawn.sum(axis=1, keepdims=True)
        return said

    def people(self, count: int, chance: np.random.Generator) -> Places:
        """Draw people, with replacement; return their places."""
        return chance.integers(0, len(self.care), size=count)


def drawn(shares: Floats, chance: np.random.Generator) -> Places:
    """Return one column of each row, drawn with the chances that stand there."""
    points = chance.random((len(shares), 1)) * shares.sum(axis=1, keepdims=True)
    found: Places = np.minimum((shares.cumsum(axis=1) < points).sum(axis=1), shares.shape[1] - 1)
    return found


def votes(said: Floats, care: Floats, habits: Floats, chance: np.random.Generator) -> Places:
    """Return a vote for each row: what is said with care of its item, or the habit of its person."""
    return drawn(care[:, None] * said + (1 - care[:, None]) * habits, chance)
