"""A crowd's model, fitted to people's judgments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from simulation.model import CrowdModel, Floats, Pace, Places, votes

ROUNDS = 40
CARE_WEIGHT = 6.0  # judgments of an average person that are added to each person's own
HABIT_WEIGHT = 4.0
CLASS_WEIGHT = 1.0
LEAST_ALIKE, MOST_ALIKE = 0.2, 500.0


@dataclass(frozen=True, slots=True)
class Rows:
    """Judgments in columns: item, person and label as numbers; ``true``: the label of each item, -1 where unknown."""

    labels: tuple[str, ...]
    item: Places
    person: Places
    label: Places
    true: Places

    def part(self, keep: Places) -> "Rows":
        """Return some of the judgments, with new numbers for their items and people."""
        items, item = np.unique(self.item[keep], return_inverse=True)
        _, person = np.unique(self.person[keep], return_inverse=True)
        return Rows(self.labels, item, person, self.label[keep], self.true[items])


def rows_of(
    judgments: Iterable[tuple[str, str, str]], truth: Mapping[str, str] | None = None, labels: Iterable[str] = ()
) -> Rows:
    """Return columns of (item, person, label); if a person judged an item several times, the last judgment is kept."""
    last = {(item, person): label for item, person, label in judgments}
    if not last:
        raise ValueError("there is no judgment")
    known = truth or {}
    found = tuple(labels) or tuple(sorted({*last.values(), *known.values()}))
    places = {label: place for place, label in enumerate(found)}
    items = {item: place for place, item in enumerate(dict.fromkeys(item for item, _ in last))}
    people = {person: place for place, person in enumerate(dict.fromkeys(person for _, person in last))}
    return Rows(
        found,
        np.array([items[item] for item, _ in last]),
        np.array([people[person] for _, person in last]),
        np.array([places[label] for label in last.values()]),
        np.array([places.get(known.get(item, ""), -1) for item in items]),
    )


def fitted(rows: Rows, *, seed: int = 0, pace: Pace | None = None) -> CrowdModel:
    """Return the model that makes these judgments likely.

    Expectation-maximization over who reads with care, and over true labels where they are unknown; then the similarity
    of items is set so that the model's people agree as often as those of the judgments, true label by true label.
    """
    state = _State(rows)
    for _ in range(ROUNDS):
        state.step()
    loads = np.bincount(rows.person, minlength=len(state.care)) / len(rows.person)
    model = CrowdModel(
        rows.labels,
        state.prior,
        state.says,
        np.full(len(rows.labels), state.alike),
        state.care,
        state.habits,
        loads,
        pace or Pace(),
    )
    return _as_alike(model, rows, state.beliefs, seed)


class _State:
    """The estimates about items and people after some iterations."""

    def __init__(self, rows: Rows) -> None:
        self.rows, count = rows, len(rows.labels)
        self.shape = (len(rows.true), count)
        self.of_person: Floats = np.bincount(rows.person).astype(float)
        self.overall: Floats = (np.bincount(rows.label, minlength=count) + 1.0) / (len(rows.label) + count)
        self.alike = 4.0
        self.care = np.full(len(self.of_person), 0.8)
        self.habits = np.tile(self.overall, (len(self.of_person), 1))
        self.careful = np.full(len(rows.label), 0.8)
        self.known = rows.true >= 0
        self.beliefs = self._by_item(np.ones(len(rows.label))) + self.overall
        self._believe(self.beliefs / self.beliefs.sum(axis=1, keepdims=True))

    def _by_item(self, weights: Floats) -> Floats:
        codes = self.rows.item * self.shape[1] + self.rows.label
        return np.bincount(codes, weights, self.shape[0] * self.shape[1]).reshape(self.shape).astype(np.float64)

    def _believe(self, beliefs: Floats) -> None:
        beliefs[self.known] = np.eye(self.shape[1])[self.rows.true[self.known]]
        self.beliefs = beliefs
        base = beliefs[self.known] if self.known.any() else beliefs
        self.prior = (base.sum(axis=0) + 0.5) / (len(base) + 0.5 * self.shape[1])
        said = beliefs.T @ self._by_item(self.careful)
        self.says = (said + CLASS_WEIGHT * (np.eye(self.shape[1]) + self.overall)) / (
            said.sum(axis=1, keepdims=True) + 2 * CLASS_WEIGHT
        )

    def step(self) -> None:
        """Do one iteration."""
        rows = self.rows
        said = self._by_item(self.careful)
        expected = self.beliefs @ self.says
        # What the others say of the item, and what is said of such items.
        others = said[rows.item, rows.label] - self.careful + self.alike * expected[rows.item, rows.label]
        total = said.sum(axis=1)[rows.item] - self.careful + self.alike
        with_care = self.care[rows.person] * np.maximum(others, 1e-9) / total
        without = (1 - self.care[rows.person]) * self.habits[rows.person, rows.label]
        self.careful = with_care / (with_care + without)
        mean = self.careful.mean()
        sums = np.bincount(rows.person, self.careful)
        self.care = np.clip((sums + CARE_WEIGHT * mean) / (self.of_person + CARE_WEIGHT), 0.005, 0.995)
        codes = rows.person * self.shape[1] + rows.label
        careless = np.bincount(codes, 1 - self.careful, len(self.care) * self.shape[1]).reshape(-1, self.shape[1])
        self.habits = (careless + HABIT_WEIGHT * self.overall) / (careless.sum(axis=1, keepdims=True) + HABIT_WEIGHT)
        self._believe(self._posterior())

    def _posterior(self) -> Floats:
        rows = self.rows
        care = self.care[rows.person][:, None]
        likely = care * self.says[:, rows.label].T + (1 - care) * self.habits[rows.person, rows.label][:, None]
        log = np.log(self.prior) + np.stack(
            [np.bincount(rows.item, np.log(likely[:, true]), self.shape[0]) for true in range(self.shape[1])], axis=1
        )
        log -= log.max(axis=1, keepdims=True)
        shares: Floats = np.exp(log)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares


def _as_alike(model: CrowdModel, rows: Rows, beliefs: Floats, seed: int) -> CrowdModel:
    """Return the model with the similarity of items at which its people agree as often as those of the judgments."""
    wanted = _agreement(rows, rows.label, beliefs)
    low, high = np.full(len(model.labels), np.log(LEAST_ALIKE)), np.full(len(model.labels), np.log(MOST_ALIKE))
    for _ in range(9):
        middle = (low + high) / 2
        tried = replace(model, alike=np.exp(middle))
        agreed = np.mean([_agreement(rows, *_played(tried, rows, beliefs, seed + n)) for n in range(2)], axis=0)
        is_too_much = agreed > wanted  # the more alike, the less do people agree
        low, high = np.where(is_too_much, middle, low), np.where(is_too_much, high, middle)
    return replace(model, alike=np.exp((low + high) / 2))


def _played(model: CrowdModel, rows: Rows, beliefs: Floats, seed: int) -> tuple[Places, Floats]:
    """Return simulated votes of the same people on items with the same true labels, and these labels as beliefs.

    Each belief has probability 1 for one label.
    """
    chance = np.random.default_rng(seed)
    true = (beliefs.cumsum(axis=1) < chance.random((len(beliefs), 1))).sum(axis=1).clip(max=len(model.labels) - 1)
    said = model.said_of(true, chance)[rows.item]
    return votes(said, model.care[rows.person], model.habits[rows.person], chance), np.eye(len(model.labels))[true]


def _agreement(rows: Rows, label: Places, beliefs: Floats) -> Floats:
    """Return the share of equal pairs of judgments on an item, by true label.

    A prior keeps the shares of rare labels reasonable.
    """
    count = len(rows.labels)
    counts = np.bincount(rows.item * count + label, minlength=len(beliefs) * count).reshape(-1, count).astype(float)
    sizes = counts.sum(axis=1)
    pairs, equal = sizes * (sizes - 1), (counts * (counts - 1)).sum(axis=1)
    overall = equal.sum() / max(pairs.sum(), 1)
    found: Floats = (beliefs.T @ equal + 20 * overall) / (beliefs.T @ pairs + 20)
    return found
