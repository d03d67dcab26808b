"""Crowds for tests: of the shared data, and made up with effects of items and of annotators."""

import csv

import numpy as np

from measures.judgments import Judgments, Repeats, judgments_of

NAMES = ("web", "rte", "dog", "bluebird", "d_sentiment")
TIMED = {"cf": "CF_amt_pseudonymised.csv", "zencrowd": "ZenCrowd_us_pseudonymised.csv"}


def columns(path):
    with path.open(newline="") as file:
        return [tuple(row) for row in list(csv.reader(file))[1:]]


def real(shared, name):
    """Return the judgments of a published crowd and what is known to be right, by item."""
    if name in TIMED:
        rows = columns(shared / "crowds" / "timed" / TIMED[name])
        judged = ((task, worker, label) for worker, task, label, _gold, _seconds in rows)
        return judgments_of(judged, repeats=Repeats.LAST), {row[1]: row[3] for row in rows}
    folder = shared / "crowds" / name
    return judgments_of(columns(folder / "label.csv"), repeats=Repeats.LAST), dict(columns(folder / "truth.csv"))


def crossed(chance, items, people, votes, labels=4):
    """Make a crowd in which items differ in how easy they are, and people in skill, leaning and how much they do."""
    truth = chance.integers(0, labels, items)
    easy, skill = chance.normal(0.5, 1.2, items), chance.normal(0.8, 0.9, people)
    leaning, load = chance.normal(0, 0.6, (people, labels)), chance.pareto(1.5, people) + 0.2
    item = np.repeat(np.arange(items), votes)
    drawn = [chance.choice(people, votes, replace=False, p=load / load.sum()) for _ in range(items)]
    who = np.concatenate(drawn)
    score = leaning[who] + chance.gumbel(size=(len(who), labels))
    score[np.arange(len(who)), truth[item]] += 1.2 * (easy[item] + skill[who])
    values = tuple(range(1, labels + 1))
    return Judgments(tuple(range(items)), tuple(range(people)), values, item, who, score.argmax(axis=1)), truth + 1


def skewed(chance, items, people, votes=3):
    """Make a crowd in which a few people give most of the judgments."""
    truth, skill = chance.integers(0, 3, items), chance.normal(0.8, 0.9, people)
    load = chance.pareto(0.7, people) + 0.02
    item = np.repeat(np.arange(items), votes)
    drawn = [chance.choice(people, votes, replace=False, p=load / load.sum()) for _ in range(items)]
    who = np.concatenate(drawn)
    score = chance.gumbel(size=(len(who), 3))
    score[np.arange(len(who)), truth[item]] += 1.2 * (0.5 + skill[who])
    return Judgments(tuple(range(items)), tuple(range(people)), (1, 2, 3), item, who, score.argmax(axis=1))
