"""Crowds that gave more votes than needed, played again: so many votes for every item, or votes where the doubt is."""

from dataclasses import dataclass

import numpy as np

from measures.audits import Stratum, allocation, label_error, spread, strata_by_doubt
from measures.targets import Calibration, Sample, Target, belief_of, next_purchase

FEWEST, CALIBRATED_ON, AUDITED = 3, 150, 200


@dataclass
class Shuffled:
    """A crowd whose votes come in an order drawn by chance; ``true``: the place of each item's label, -1 unknown."""

    judgments: object
    true: np.ndarray
    rank: np.ndarray  # of each judgment among those of its item

    @classmethod
    def of(cls, judgments, truth, seed):
        places = {str(label): place for place, label in enumerate(judgments.labels)}
        true = np.array([places.get(str(truth.get(item)), -1) for item in judgments.items])
        chance = np.random.default_rng(seed)
        order = chance.permutation(len(judgments))
        order = order[np.argsort(judgments.item[order], kind="stable")]
        item, rank = judgments.item[order], np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order)) - np.searchsorted(item, item)
        return cls(judgments, true, rank)

    @property
    def items(self):
        """The items of which something is known to be right."""
        return np.flatnonzero(self.true >= 0)

    def first(self, votes):
        """Return the judgments that are there once every item has so many votes, as far as there are any."""
        return self.judgments.part(self.rank < np.broadcast_to(votes, self.true.shape)[self.judgments.item])

    def error(self, counts):
        """Return the share of wrong labels; of several with the most votes one is drawn."""
        wins = counts == counts.max(axis=1, keepdims=True)
        return float((1 - wins[self.items, self.true[self.items]] / wins[self.items].sum(axis=1)).mean())


@dataclass
class Played:
    """What a replay came to: votes an item, the share of wrong labels, and whether the audit's interval holds it."""

    votes: float
    error: float  # of all labels, where experts are right
    holds: bool
    by_experts: float  # share of the items


def fixed(crowd, votes):
    """Return (votes an item, share of wrong labels) with the same number of votes for every item."""
    there = crowd.first(votes)
    return np.isin(there.item, crowd.items).sum() / len(crowd.items), crowd.error(there.counts())


def by_target(crowd, error, most, seed):
    """Buy votes until the error that a first audit calibrated is acceptable; then audit what came of it.

    Experts know what is right, and cost nothing. They get what votes can't settle.
    """
    chance, items = np.random.default_rng(seed), crowd.items
    able = np.minimum(np.bincount(crowd.judgments.item, minlength=len(crowd.true)), most)
    votes, sample, settled = np.minimum(able, FEWEST), None, np.zeros(len(able), dtype=bool)
    target = Target(error=error, budget_cents=10**9, most=most)
    while True:
        belief = belief_of(crowd.first(votes))
        calibration = sample.calibration(belief, settled) if sample else Calibration()
        asked = np.where(votes < able, votes, most)
        found = next_purchase(
            np.where(settled, 0.0, calibration.of(belief.doubts()))[items],
            asked[items],
            ~settled[items],
            target,
            vote_cents=1,
            cents_left=1e9,
        )
        votes[items[found.votes]] += 1
        if sample is not None:
            settled[items[found.experts]] = True
        if len(found.votes) or (sample is not None and len(found.experts)):
            continue
        if sample is not None:
            break
        _strata, drawn, weights = audited(crowd, belief, CALIBRATED_ON, chance)
        sample = Sample(drawn, crowd.true[drawn], weights)
    wrong = (belief.counts.argmax(axis=1) != crowd.true) & ~settled
    strata, _drawn, _weights = audited(crowd, belief, AUDITED, chance, settled)
    measured = label_error(strata)
    return Played(
        votes[items].mean(),
        wrong[items].mean(),
        measured.low - 1e-9 <= wrong[items].mean() <= measured.high + 1e-9,
        settled[items].mean(),
    )


def audited(crowd, belief, count, chance, settled=None):
    """Draw an audit as a campaign does; experts know what is right. Return strata, items drawn, what each stands for.

    Items with an expert's label are a stratum of their own.
    """
    settled = np.zeros(len(crowd.true), dtype=bool) if settled is None else settled
    items = crowd.items[~(belief.undecided() | settled)[crowd.items]]
    doubts, wrong = belief.doubts(), belief.counts.argmax(axis=1) != crowd.true
    places = strata_by_doubt(doubts[items])
    strata = [items[places == place] for place in range(places.max() + 1)]
    sizes = allocation([len(one) for one in strata], [spread(doubts[one]).mean() for one in strata], count)
    drawn = [chance.choice(one, size, replace=False) for one, size in zip(strata, sizes, strict=True)]
    found = [Stratum(len(one), len(some), int(wrong[some].sum())) for one, some in zip(strata, drawn, strict=True)]
    weights = [np.full(len(some), len(one) / len(some)) for one, some in zip(strata, drawn, strict=True)]
    if settled.any():
        found.append(Stratum(int(settled.sum()), int(settled.sum()), 0))
    return found, np.concatenate(drawn), np.concatenate(weights)


def votes_for(curve, error):
    """Return how many votes an item take to be as good with the same number for all; None: no number is.

    ``curve``: pairs of votes and error, by votes. Between two numbers a part of the items gets the greater one.
    """
    for (fewer, worse), (more, better) in zip(curve, curve[1:], strict=False):
        if better <= error:
            return fewer + (more - fewer) * max(0.0, (worse - error) / (worse - better)) if worse > better else more
    return None
