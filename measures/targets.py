"""Adaptive voting: choose items for another vote or an expert until the share of wrong labels is acceptable.

Labels are always those with more votes than any other label. A model of the votes only estimates how doubtful each
label is, to choose the next votes. Its estimates are calibrated on an audit before they can stop the voting, and again
in every wave: each wave removes visible doubt, so the errors that remain are those that the model doubts too little.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from measures.judgments import Floats, Judgments, Places
from measures.label_models import dawid_skene

WAVE = 0.1  # of all items get a vote in one wave
CERTAIN = 1e-4  # no label is less doubtful than this, nor its opposite
AS_IT_SAYS = (0.0, 1.0)  # the intercept and slope that leave a doubt as it is
RIDGE = (1.0, 8.0)  # how firmly calibration holds to them
UNSEEN = 1.0  # wrong labels that are added to those of a sample
MOST_STEPS, ENOUGH = 200, 1e-9  # of Newton's method


class Stop(StrEnum):
    """The reason for buying no more votes: acceptable error, spent budget, or no item that votes can still decide."""

    TARGET = "target"
    BUDGET = "budget"
    VOTES = "votes"


@dataclass(frozen=True, slots=True)
class Target:
    """A manager's acceptable error, budget and prices.

    Attributes
    ----------
    error
        The acceptable share of wrong labels.
    budget_cents
        The budget for votes beyond each item's first ones, and for experts.
    most
        The maximum number of votes per item, including the first ones.
    expert_cents
        The expert cost of one item; 0 if experts are not paid per item.
    """

    error: float = 0.05
    budget_cents: int = 10_000
    most: int = 9
    expert_cents: int = 0

    def __post_init__(self) -> None:
        if not 0.001 <= self.error <= 0.5:
            raise ValueError("the acceptable share of wrong labels must lie between 0.001 and 0.5")
        if self.budget_cents < 0 or self.expert_cents < 0 or not 1 <= self.most <= 100:
            raise ValueError("amounts must not be negative, and most lies between 1 and 100")


@dataclass(frozen=True, slots=True)
class Belief:
    """Estimates from the votes on items.

    Attributes
    ----------
    counts
        Shape (items, labels): the number of votes for each label.
    posterior
        Shape (items, labels): the probability of each label.
    people
        Shape (annotators, labels, labels): the probability that an annotator gives the column's label if the row's is
        true.
    shares
        Shape (annotators,): each annotator's share of all votes.
    """

    counts: Floats
    posterior: Floats
    people: Floats
    shares: Floats

    def undecided(self) -> NDArray[np.bool_]:
        """Return whether each item has no label, because of a tie or without votes; shape (items,)."""
        most = self.counts.max(axis=1, keepdims=True)
        found: NDArray[np.bool_] = ((self.counts == most).sum(axis=1) > 1) | (most[:, 0] == 0)
        return found

    def doubts(self) -> Floats:
        """Return the probability that each item's label is wrong, shape (items,); 1 for an item without a label."""
        chosen = self.counts.argmax(axis=1)
        found: Floats = 1 - self.posterior[np.arange(len(chosen)), chosen]
        found[self.undecided()] = 1.0
        return found


def belief_of(judgments: Judgments) -> Belief:
    """Return the estimates of a model fitted to all votes."""
    model = dawid_skene(judgments)
    done = np.bincount(judgments.annotator, minlength=len(judgments.annotators))
    return Belief(judgments.counts(), model.posterior, model.confusion, done / done.sum())


@dataclass(frozen=True, slots=True)
class Calibration:
    """A map from the model's doubts to actual error rates: logit(share) = intercept + slope · logit(doubt)."""

    intercept: float = 0.0
    slope: float = 1.0

    def of(self, doubts: Floats) -> Floats:
        """Return the calibrated doubts. A missing label stays at 1: that is a fact, not an estimate."""
        found: Floats = np.where(doubts >= 1.0, 1.0, _share(self.intercept + self.slope * _logit(doubts)))
        return found


def calibrated(doubts: Floats, wrong: NDArray[np.bool_], weights: Floats) -> Calibration:
    """Return the calibration of doubts, from labels that experts judged.

    A logistic regression of errors on the logit of the doubts, shrunk towards the model's own doubts, so that a small
    audit changes little. If the best slope is negative, doubts tell nothing: the slope is 0, and the intercept is
    fitted alone. One wrong label of average doubt is added: a sample without errors proves nothing, and voting stops at
    the first prediction that is low enough, so more often at one that is too low by chance than at one too high.

    Parameters
    ----------
    doubts
        The model's doubts about the labels, shape (labels,).
    wrong
        Whether experts chose another label, shape (labels,).
    weights
        The number of items that each label represents, shape (labels,).

    References
    ----------
    J. Platt (1999). Probabilistic outputs for support vector machines. Advances in Large Margin Classifiers.
    """
    if not len(doubts):
        return Calibration()
    columns = np.stack([np.ones(len(doubts)), _logit(doubts)], axis=1)
    columns = np.vstack([columns, np.average(columns, axis=0, weights=weights)])
    wrong, weight = np.append(wrong, True), np.append(weights / weights.mean(), UNSEEN)
    found = _fitted(columns, wrong, weight, np.array(AS_IT_SAYS), np.array(RIDGE))
    if found[1] >= 0:
        return Calibration(float(found[0]), float(found[1]))
    alone = _fitted(columns[:, :1], wrong, weight, np.array(AS_IT_SAYS[:1]), np.array(RIDGE[:1]))
    return Calibration(float(alone[0]), 0.0)


def _fitted(columns: Floats, wrong: NDArray[np.bool_], weight: Floats, held_to: Floats, ridge: Floats) -> Floats:
    """Return the coefficients of a logistic regression, shrunk towards ``held_to``, by Newton's method."""
    found = held_to
    for _ in range(MOST_STEPS):
        share = _share(columns @ found)
        rise = columns.T @ (weight * (wrong - share)) - ridge * (found - held_to)
        bend = (columns * (weight * share * (1 - share))[:, None]).T @ columns + np.diag(ridge)
        step = np.linalg.solve(bend, rise)
        # Never far at once: it could go past and not come back.
        found = found + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < ENOUGH:
            break
    return found


@dataclass(frozen=True, slots=True)
class Sample:
    """A random sample of labels that experts judged; all of shape (labels judged,).

    Attributes
    ----------
    items
        The items, as places in a `Belief`.
    said
        The experts' labels, as places among the labels; -1 for a label that nobody voted for.
    weights
        The number of items that each item represents.
    """

    items: Places
    said: Places
    weights: Floats

    def calibration(self, belief: Belief, is_settled: NDArray[np.bool_]) -> Calibration:
        """Return the calibration of the present doubts, by the present labels of the sample's items.

        Items without a label, and items whose label is an expert's, are left out: their doubts are facts.

        Parameters
        ----------
        is_settled
            Whether experts set the label of each item, shape (items of the belief,).
        """
        keep = ~(is_settled | belief.undecided())[self.items]
        items = self.items[keep]
        wrong = belief.counts[items].argmax(axis=1) != self.said[keep]
        return calibrated(belief.doubts()[items], wrong, self.weights[keep])


def _share(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-logits))
    return found


def _logit(shares: Floats) -> Floats:
    bounded = np.clip(shares, CERTAIN, 1 - CERTAIN)
    found: Floats = np.log(bounded / (1 - bounded))
    return found


@dataclass(frozen=True, slots=True)
class Purchase:
    """The next step: items that get one more vote each, items for the experts, or the reason to stop.

    ``predicted`` is the current estimate of the share of wrong labels.
    """

    votes: Places
    experts: Places
    predicted: float
    stop: Stop | None


def next_purchase(
    doubts: Floats,
    votes: Places,
    is_free: NDArray[np.bool_],
    target: Target,
    *,
    vote_cents: float,
    cents_left: float,
    is_waiting: bool = False,
) -> Purchase:
    """Return what to buy next, the most doubtful items first.

    An item gets another vote while its doubt exceeds the acceptable share, or while it has no label. Experts get every
    item without a label at the maximum number of votes, or if no further vote can be paid. They also get as many
    doubtful items at the maximum as needed to reduce the prediction to the target.

    Parameters
    ----------
    doubts
        Calibrated doubts, shape (items,); 0 for items that experts decided.
    votes
        The number of votes of each item, shape (items,).
    is_free
        Whether each item has no pending votes or expert cases, shape (items,).
    vote_cents
        The cost of one vote, including fees.
    cents_left
        The remaining budget.
    is_waiting
        Whether votes that were bought are still pending.

    Examples
    --------
    >>> doubts, free = np.array([0.4, 0.01, 0.2]), np.ones(3, bool)
    >>> bought = next_purchase(doubts, np.array([3, 3, 3]), free, Target(error=0.05), vote_cents=10, cents_left=100)
    >>> bought.votes.tolist(), round(bought.predicted, 2), bought.stop
    ([0], 0.2, None)
    """
    order = np.argsort(-doubts, kind="stable")
    nothing: Places = order[:0]
    predicted = float(doubts.mean())
    undecided = doubts >= 1.0
    doubted = is_free & (undecided | ((doubts > target.error) & (predicted > target.error)))
    if predicted <= target.error and not undecided.any():
        return Purchase(nothing, nothing, predicted, Stop.TARGET)
    wanted = order[(doubted & (votes < target.most))[order]][: max(1, int(WAVE * len(doubts)))]
    bought = wanted[: _affordable(cents_left, vote_cents)]
    if len(bought):
        return Purchase(bought, nothing, predicted, None)
    rest = order[(doubted & (undecided | (votes >= target.most)))[order]]
    needed = np.searchsorted(np.cumsum(doubts[rest]), (predicted - target.error) * len(doubts)) + 1
    experts = rest[: max(int(needed) if predicted > target.error else 0, int(undecided[rest].sum()))]
    affordable = experts[: _affordable(cents_left, target.expert_cents)]
    is_spent = len(wanted) or (len(experts) and not len(affordable))
    stop = None if is_waiting else Stop.BUDGET if is_spent else Stop.VOTES
    return Purchase(nothing, affordable, predicted, stop)


def _affordable(cents_left: float, each: float) -> int | None:
    """Return how many units can be paid; None means no limit."""
    return max(0, int(cents_left // each)) if each else None


@dataclass(frozen=True, slots=True)
class Point:
    """A predicted share of wrong labels, and the cost of votes and experts up to that prediction."""

    cents: int
    error: float


def forecast(
    belief: Belief,
    target: Target,
    calibration: Calibration,
    *,
    fewest: int,
    vote_cents: float,
    is_settled: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> list[Point]:
    """Return the expected decrease of the share of wrong labels with the money spent beyond the first votes.

    Future waves of votes are simulated: true labels are drawn from the estimates, annotators by their share of the
    work, and votes by the annotators' confusion. Items without their first votes get those before any cost is counted.

    Parameters
    ----------
    fewest
        The number of first votes per item.
    is_settled
        Whether experts decided each item, shape (items,).
    """
    chance = np.random.default_rng(seed)
    play = _Play(belief, chance)
    for item_votes in range(fewest):
        play.vote(np.flatnonzero(play.votes <= item_votes))
    settled = np.zeros(len(play.votes), dtype=bool) if is_settled is None else is_settled.copy()
    cents, points = 0.0, list[Point]()
    while True:
        doubts = np.where(settled, 0.0, calibration.of(play.belief.doubts()))
        cents_left = target.budget_cents - cents
        bought = next_purchase(doubts, play.votes, ~settled, target, vote_cents=vote_cents, cents_left=cents_left)
        points.append(Point(round(cents), bought.predicted))
        if not len(bought.votes) and not len(bought.experts):
            return points
        cents += len(bought.votes) * vote_cents + len(bought.experts) * target.expert_cents
        play.vote(bought.votes)
        settled[bought.experts] = True


class _Play:
    """Simulated votes for `forecast`."""

    def __init__(self, belief: Belief, chance: np.random.Generator) -> None:
        self.belief = replace(belief, counts=belief.counts.copy(), posterior=belief.posterior.copy())
        self.chance = chance
        self.votes = belief.counts.sum(axis=1).astype(np.int64)
        self.true = _drawn(belief.posterior, chance)

    def vote(self, items: Places) -> None:
        """Simulate one more vote for each of the items."""
        who = self.chance.choice(len(self.belief.shares), size=len(items), p=self.belief.shares)
        said = _drawn(self.belief.people[who, self.true[items]], self.chance)
        posterior = self.belief.posterior[items] * self.belief.people[who, :, said]
        self.belief.posterior[items] = posterior / posterior.sum(axis=1, keepdims=True)
        self.belief.counts[items, said] += 1
        self.votes[items] += 1


def _drawn(shares: Floats, chance: np.random.Generator) -> Places:
    """Return one column index per row, drawn with the row's probabilities."""
    points = chance.random((len(shares), 1)) * shares.sum(axis=1, keepdims=True)
    found: Places = np.minimum((shares.cumsum(axis=1) < points).sum(axis=1), shares.shape[1] - 1)
    return found


def belief_before(items: int, labels: int, accuracy: float) -> Belief:
    """Return the estimates before any vote: annotators are right with ``accuracy``, and otherwise err at random."""
    confusion = np.full((labels, labels), (1 - accuracy) / (labels - 1))
    np.fill_diagonal(confusion, accuracy)
    return Belief(np.zeros((items, labels)), np.full((items, labels), 1 / labels), confusion[None], np.ones(1))
