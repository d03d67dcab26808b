"""The synthetic people of the demo, and the right labels of its pairs."""

import json
import random
from typing import Any

import numpy as np

from replays.demo.relevance import CONTENT
from simulation.people import Habits, Person
from simulation.reading.relevance import LABELS
from simulation.world import KnownWorld, plain

CROWD = (0.95,) * 8 + (0.8,) * 2 + (0.0,) * 2  # how often each reads with care; otherwise any label
HARD_SHARE = 0.3  # pairs on which even careful people choose any label


def person_of(seed: int, number: int, care: float, *, skips: float = 0.0) -> Person:
    """Return a person of the demo's crowd. People who don't read choose labels at random."""
    habits = Habits(returns=0.02, abandons=0, skips=skips, twice=0, undoes=0, tabs=0, fatigue=0, drift=0)
    return Person(seed, number, care, np.ones(len(LABELS)) / len(LABELS), habits=habits)


def world_of(hard_share: float, seed: int) -> KnownWorld:
    """Return the right labels of the demo's pairs, some of which are so hard that even careful people guess."""
    truth = {(plain(question), plain(answer)): label for (question, answer), label in truth_of().items()}
    gold = {(plain(row["question"]), plain(row["answer"])) for row in _rows("antique_gold.jsonl")}
    chance = random.Random(f"{seed} hard")  # noqa: S311  a simulation
    hard = frozenset(pair for pair in truth if pair not in gold and chance.random() < hard_share)
    return KnownWorld(LABELS, truth, otherwise=3, hard=hard)


def truth_of() -> dict[tuple[str, str], int]:
    """Return the true label of each pair of question and answer that the crowd can get."""
    rows = (*_rows("antique_pairs.jsonl"), *_rows("antique_gold.jsonl"))
    return {(row["question"], row["answer"]): row.get("true_label") or row["accepted"][0] for row in rows}


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CONTENT / name).read_text(encoding="utf-8").splitlines()]
