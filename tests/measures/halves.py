"""Crowds cut in two, by item and by person: what one half says of the other."""

from dataclasses import dataclass

import numpy as np

from measures.agreement import Level
from measures.judgments import Judgments, effective_number
from measures.pilots import ORDERS, View, jackknifed

LEVELS = {"web": Level.ORDINAL}


@dataclass
class Crowd:
    """A published crowd with the place of each item's right label."""

    judgments: Judgments
    true: np.ndarray
    level: Level
    votes: int  # of an item whose majority is asked for: with two labels four, since three always have a majority

    @classmethod
    def of(cls, name, judgments, truth):
        places = {str(label): place for place, label in enumerate(judgments.labels)}
        true = np.array([places.get(str(truth.get(item)), -1) for item in judgments.items])
        return cls(judgments, true, LEVELS.get(name, Level.NOMINAL), 4 if len(judgments.labels) == 2 else 3)

    def halves(self, chance):
        """Return which judgments lie in one half of the items by one half of the people, and which in the others."""
        items = chance.permutation(len(self.judgments.items)) < len(self.judgments.items) // 2
        people = chance.permutation(len(self.judgments.annotators)) < len(self.judgments.annotators) // 2
        first = items[self.judgments.item] & people[self.judgments.annotator]
        second = ~items[self.judgments.item] & ~people[self.judgments.annotator]
        return first, second

    def came(self, keep, chance):
        """Return the three numbers as they were."""
        part = self.judgments.part(keep)
        view = View(part, self.true, self.votes, self.level, [chance.random(len(part)) for _ in range(ORDERS)])
        return view.of(np.ones(len(part), dtype=bool))

    def cut(self, chance, confidence=0.9):
        """Return, for a random cut, what each number was less its forecast, and half of the jackknife's width."""
        first, second = self.halves(chance)
        other = self.judgments.part(second)
        value, half = jackknifed(
            self.judgments.part(first),
            self.true,
            votes=self.votes,
            items=len(np.unique(other.item)),
            people=effective_number(other.annotator),
            level=self.level,
            confidence=confidence,
            seed=int(chance.integers(2**31)),
        )
        return np.array([self.came(second, chance) - value, half])


def widening(cuts, least=0.8):
    """Return the factor at which the intervals of each crowd hold each number in at least so many cuts.

    ``cuts``: of each crowd, shape (cuts, 2, numbers).
    """
    needed = [np.quantile(np.abs(one[:, 0]) / one[:, 1], least, axis=0, method="higher") for one in cuts]
    return max(1.0, float(np.max(needed)))
