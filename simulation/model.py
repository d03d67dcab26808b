"""A statistical model of a crowd: the properties of items, and of the people who answer them.

Each item has a true label, and a distribution of the labels that careful readers give: it reflects the item's
difficulty and shared confusions. A person reads with care with some probability, and otherwise follows a personal
habit. Spammers are the limiting case: no care at all.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pace:
    """The duration of an answer, in seconds: log-normal, with variation between people and between a person's answers.

    Attributes
    ----------
    median
        The median for an average person and a text of ``words`` words.
    between, within
        Standard deviations of the logarithm: between people, and between the answers of a person.
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
        The average shares of labels that careful readers give to items with each true label, shape (K, K): rows are
        true labels.
    alike
        The similarity of the items with one true label, shape (K,): the concentration of a Dirichlet distribution
        around their row of ``says``. Small: some items are easy and others hopeless; large: all items are similar.
    care
        The probability that each known person reads with care, shape (P,).
    habits
        The shares of labels that each person gives without care, shape (P, K).
    loads
        The share of all work that each person does, shape (P,).
    pace
        The duration of answers.
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
        """Draw items; return true labels, shape (count,), and careful readers' shares of labels, shape (count, K)."""
        true = chance.choice(len(self.labels), size=count, p=self.prior)
        return true, self.said_of(true, chance)

    def said_of(self, true: Places, chance: np.random.Generator) -> Floats:
        """Draw careful readers' shares of labels for items with given true labels, shape (items, K)."""
        drawn = chance.standard_gamma(np.maximum(self.says[true] * self.alike[true, None], 1e-3))
        drawn += 1e-12
        said: Floats = drawn / drawn.sum(axis=1, keepdims=True)
        return said

    def people(self, count: int, chance: np.random.Generator) -> Places:
        """Draw people, with replacement; return their indices."""
        return chance.integers(0, len(self.care), size=count)


def drawn(shares: Floats, chance: np.random.Generator) -> Places:
    """Return one column number for each row, drawn with the probabilities in the row."""
    points = chance.random((len(shares), 1)) * shares.sum(axis=1, keepdims=True)
    found: Places = np.minimum((shares.cumsum(axis=1) < points).sum(axis=1), shares.shape[1] - 1)
    return found


def votes(said: Floats, care: Floats, habits: Floats, chance: np.random.Generator) -> Places:
    """Return a vote for each row, drawn from careful readers' shares of its item or from the habit of its person."""
    return drawn(care[:, None] * said + (1 - care[:, None]) * habits, chance)
