"""An assumed crowd, built from the few rates that a paper reports or a team expects."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from simulation.model import CrowdModel, Floats, Pace, votes

ITEMS, PEOPLE = 20_000, 400
CLEAREST = 12.0  # how much less probable the next label is, in logarithms, where everything is clear


def assumed(
    labels: Sequence[str],
    *,
    no_majority: float,
    prior: Sequence[float] | None = None,
    care: float = 0.92,
    votes_each: int = 3,
    is_ordinal: bool = True,
    alike: float = 3.0,
    pace: Pace | None = None,
    seed: int = 0,
) -> CrowdModel:
    """Return honest people whose votes leave the given share of items without a strict majority.

    Parameters
    ----------
    no_majority
        The share of items without a label chosen by more than half of ``votes_each`` people. It determines how much
        careful people confuse neighboring labels.
    care
        The probability that an average person reads with care; it differs by person (a beta distribution with the
        weight of twenty answers).
    is_ordinal
        Whether labels are steps, so that the next one is confused more often than those beyond it.

    Raises
    ------
    ValueError
        A crowd with such care can't disagree so seldom, or so often.
    """
    chance = np.random.default_rng(seed)
    count = len(labels)
    shares = np.array(prior if prior is not None else np.ones(count), dtype=float)
    people = np.clip(chance.beta(20 * care, 20 * (1 - care), PEOPLE), 0.01, 0.99)
    habits = chance.dirichlet(np.ones(count) * 4, PEOPLE)
    model = CrowdModel(
        tuple(labels),
        shares / shares.sum(),
        np.eye(count),
        np.full(count, alike),
        people,
        habits,
        np.full(PEOPLE, 1 / PEOPLE),
        pace or Pace(),
    )

    def left(clear: float) -> float:
        return no_majority_of(_confusing(model, clear, is_ordinal), votes_each)

    if not left(CLEAREST) <= no_majority <= left(0.0):
        raise ValueError(
            f"no crowd that reads with care {care:.0%} of the time leaves {no_majority:.1%} without a majority"
        )
    return _confusing(model, _bisected(left, no_majority), is_ordinal)


def _bisected(left: Callable[[float], float], wanted: float) -> float:
    """Return the clarity at which the wanted share is reached; ``left`` falls with growing clarity."""
    low, high = 0.0, CLEAREST
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) > wanted else (low, middle)
    return (low + high) / 2


def _confusing(model: CrowdModel, clear: float, is_ordinal: bool) -> CrowdModel:  # noqa: FBT001
    """Return the model with fewer confusions of labels the higher the clarity is."""
    places = np.arange(len(model.labels))
    apart = np.abs(places[:, None] - places)
    weights = np.exp(-clear * (apart if is_ordinal else apart > 0))
    return replace(model, says=weights / weights.sum(axis=1, keepdims=True))


def no_majority_of(model: CrowdModel, votes_each: int, seed: int = 1) -> float:
    """Return the share of items without a strict majority among this number of votes."""
    counts = vote_counts(model, votes_each, np.random.default_rng(seed))
    return float((2 * counts.max(axis=1) <= votes_each).mean())


def vote_counts(model: CrowdModel, votes_each: int, chance: np.random.Generator, items: int = ITEMS) -> Floats:
    """Return the number of votes for each label of some items, shape (items, labels)."""
    _, said = model.items(items, chance)
    counts = np.zeros(said.shape)
    for _ in range(votes_each):
        who = model.people(items, chance)
        counts[np.arange(items), votes(said, model.care[who], model.habits[who], chance)] += 1
    return counts
