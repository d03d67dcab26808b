"""Worlds with two systems, in which the planned number of items is judged, to measure the power of the plan."""

import numpy as np

from measures.ranking import Pair, items_needed, pairs_of
from measures.rectified import Board

# name -> difference, spread, share of automatic scores that agree with people's judgments, wrong judgments, all items
WORLDS = {
    "judgments alone": (0.05, 0.2, None, 0.0, 20_000),
    "large difference": (0.15, 0.3, None, 0.0, 20_000),
    "automatic scores": (0.05, 0.2, 0.95, 0.0, 20_000),
    "few items": (0.05, 0.2, 0.95, 0.0, 1_500),
    "wrong judgments": (0.08, 0.25, None, 0.1, 20_000),
    "wrong judgments, automatic scores": (0.08, 0.25, 0.95, 0.1, 20_000),
}


def right(chance, difference, spread, items):
    """Return whether each of two systems is right: exactly one in the share ``spread``, the first more often."""
    both = chance.random(items) < 0.6
    one = chance.random(items) < spread
    first = chance.random(items) < (1 + difference / spread) / 2
    return np.where(one, first, both), np.where(one, ~first, both)


def planned(difference, spread, agree, wrong, items, *, seed=0):
    """Return the planned number of judged items; how much automatic scores explain is measured in a large world."""
    if agree is None:
        return items_needed(difference, Pair(spread), wrong=wrong, items=items)
    [pair] = pairs_of(board(np.random.default_rng(seed), difference, spread, agree, 0.0, 200_000, 200_000)).values()
    return items_needed(difference, Pair(spread, pair.explained), wrong=wrong, items=items)


def flipped(chance, values, share):
    """Return values, a share of them turned."""
    return np.where(chance.random(len(values)) < share, ~values, values).astype(float)


def board(chance, difference, spread, agree, wrong, items, judged):
    """Return a board of the two systems."""
    pair = right(chance, difference, spread, items)
    sample = chance.choice(items, judged, replace=False)
    scores = [np.zeros(items) if agree is None else flipped(chance, one, 1 - agree) for one in pair]
    said = [flipped(chance, one[sample], wrong) for one in pair]
    named = [dict(zip("ab", values, strict=True)) for values in (scores, said)]
    return Board(named[0], sample, named[1], np.zeros(items, dtype=int))


def is_found(chance, *options):
    """Return whether the difference is found in a world, as a board tests it."""
    [found] = board(chance, *options).differences()
    return found.p < 0.05 and found.difference.value > 0
