"""The ladder: what an attacker gains from a sealed board, and what it shows of systems that are really better."""

import math
import random
from statistics import fmean, stdev

import pytest

from evaluation.boards.ladder import Scored, least_gain, rounded, shown_score, standard_error

ITEMS, SUBMISSIONS, ACCOUNTS, SEEDS, STEP = 1000, 200, 5, 20, 0.01


def accuracy(predicted, labels):
    values = [float(a == b) for a, b in zip(predicted, labels, strict=True)]
    return Scored(fmean(values), values)


class Unprotected:
    """A board that tells every score to the last digit."""

    def __init__(self, labels):
        self.labels = labels

    def submit(self, _account, predicted):
        return accuracy(predicted, self.labels).score


class Sealed:
    """A board as a sealed one is: each account a team of its own, which is the worst case."""

    def __init__(self, labels):
        self.labels, self.attempts = labels, 0
        self.best = dict.fromkeys(range(ACCOUNTS), accuracy([0] * ITEMS, labels))

    def submit(self, account, predicted):
        self.attempts += 1
        new = accuracy(predicted, self.labels)
        shown = shown_score(self.best[account], new, step=STEP, attempt=self.attempts)
        if shown is not None:
            self.best[account] = new
        return shown


def attack(board_of, seed):
    """Return what the attack of Blum and Hardt (2015, section 4) gains: its score against the labels over that of chance.

    Random predictions are submitted; those that the board says are better than chance are put to a vote.
    """
    draw = random.Random(seed)
    labels = [draw.randint(0, 1) for _ in range(ITEMS)]
    board, votes = board_of(labels), [0.0] * ITEMS
    for number in range(SUBMISSIONS):
        predicted = [draw.randint(0, 1) for _ in range(ITEMS)]
        told = board.submit(number % ACCOUNTS, predicted)
        if told is not None:
            weight = 1 if told > 0.5 else -1
            votes = [vote + weight * (2 * one - 1) for vote, one in zip(votes, predicted, strict=True)]
    final = [int(vote > 0 or (vote == 0 and draw.random() < 0.5)) for vote in votes]
    return accuracy(final, labels).score - 0.5


def test_an_attacker_with_two_hundred_submissions_and_five_accounts_gains_nothing():
    gains = [attack(Sealed, seed) for seed in range(SEEDS)]
    assert abs(fmean(gains)) <= 2 * stdev(gains) / math.sqrt(SEEDS)
    leaks = [attack(Unprotected, seed) for seed in range(SEEDS)]
    assert fmean(leaks) > 10 * stdev(leaks) / math.sqrt(SEEDS)
    assert fmean(leaks) > 0.1  # sixty points of a hundred, from coins


def test_probing_one_label_after_the_other_tells_nothing():
    draw = random.Random(3)
    labels = [draw.randint(0, 1) for _ in range(ITEMS)]
    board, predicted = Sealed(labels), [draw.randint(0, 1) for _ in range(ITEMS)]
    board.submit(0, predicted)
    for item in range(SUBMISSIONS):
        probe = [*predicted]
        probe[item] = 1 - probe[item]
        assert board.submit(0, probe) is None


def test_a_system_that_is_really_better_is_shown():
    draw = random.Random(1)
    labels = [draw.randint(0, 1) for _ in range(ITEMS)]

    def system(right):
        return [label if number < right else 1 - label for number, label in enumerate(labels)]

    board = Sealed(labels)
    assert board.submit(0, system(700)) == 0.7
    assert board.submit(0, system(705)) is None  # below the step
    assert board.submit(0, system(760)) == 0.76
    assert board.submit(1, system(705)) == 0.7  # of another team: half a step up is a whole number of steps


def test_the_least_gain_by_hand():
    first, second = Scored(0.5, [1.0, 0.0, 1.0, 0.0]), Scored(0.75, [1.0, 1.0, 1.0, 0.0])
    assert standard_error(first.values, second.values) == pytest.approx(
        0.25
    )  # differences 0 1 0 0: variance 1/4, over 4
    # One submission: 1 - 0.05 / 2 gives the quantile 1.959964.
    assert least_gain(first, second, step=0.01, attempt=1) == pytest.approx(1.959964 * 0.25)
    assert shown_score(first, second, step=0.01, attempt=1) is None
    assert shown_score(first, first, step=0.01, attempt=1) is None
    assert rounded(0.7549, 0.01) == 0.75
    assert standard_error([1.0], [0.0]) == math.inf


def test_chance_is_shown_an_improvement_in_one_board_of_twenty_at_most():
    shown = 0
    for seed in range(100):
        draw = random.Random(1000 + seed)
        labels = [draw.randint(0, 1) for _ in range(100)]
        best = accuracy([0] * 100, labels)
        for attempt in range(1, 41):
            new = accuracy([draw.randint(0, 1) for _ in range(100)], labels)
            if shown_score(best, new, step=0.005, attempt=attempt) is not None:
                shown += 1
                break
    assert shown <= 10  # 5 expected at most, 10 is above the 97.5 % quantile
