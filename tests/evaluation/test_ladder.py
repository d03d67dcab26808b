"""The ladder: what an attacker gains from a sealed board, and what it shows of systems that are really better."""

import math
import random
from statistics import fmean, stdev

import pytest

from evaluation.boards.ladder import Scored, least_gain, rounded, shown_score

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
    """A board as a sealed one is: each submission has to beat the best that it showed to anyone."""

    def __init__(self, labels):
        self.labels, self.attempts = labels, 0
        self.best = accuracy([0] * ITEMS, labels)

    def submit(self, _account, predicted):
        self.attempts += 1
        new = accuracy(predicted, self.labels)
        shown = shown_score(self.best, new, step=STEP, attempt=self.attempts)
        if shown is not None:
            self.best = new
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


@pytest.mark.slow
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


def test_accounts_that_begin_anew_with_a_good_system_learn_one_score_between_them():
    draw = random.Random(6)
    labels = [draw.randint(0, 1) for _ in range(ITEMS)]
    board, good = Sealed(labels), [label if draw.random() < 0.75 else 1 - label for label in labels]
    told = []
    for account in range(50):
        probe = [*good]
        probe[account] = 1 - probe[account]
        told.append(board.submit(account, probe))
    assert told[0] is not None
    assert told[1:] == [None] * 49


def test_a_system_that_is_really_better_is_shown():
    draw = random.Random(1)
    labels = [draw.randint(0, 1) for _ in range(ITEMS)]

    def system(right):
        return [label if number < right else 1 - label for number, label in enumerate(labels)]

    board = Sealed(labels)
    assert board.submit(0, system(700)) == 0.7
    assert board.submit(0, system(705)) is None  # below the step
    assert board.submit(1, system(760)) == 0.76
    assert board.submit(2, system(750)) is None  # better than that account was ever shown, not than the best


def test_the_least_gain_by_hand():
    first, second = Scored(0.5, [1.0, 0.0, 1.0, 0.0]), Scored(0.75, [1.0, 1.0, 1.0, 0.0])
    # One submission: the level is 0.05 / 2; the sum of the squared differences is 1, of four units.
    assert least_gain(first, second, step=0.01, attempt=1) == pytest.approx(math.sqrt(2 * math.log(40)) / 4)
    assert least_gain(first, second, step=0.9, attempt=1) == 0.9
    assert shown_score(first, second, step=0.01, attempt=1) is None
    assert shown_score(first, first, step=0.01, attempt=1) is None
    assert rounded(0.7549, 0.01) == 0.75


@pytest.mark.parametrize("attempt", [1, 2, 12, 200])
def test_however_few_items_differ_chance_passes_no_more_often_than_stated(attempt):
    """For every number of differing items, the exact binomial chance that so many speak for the new one."""
    level = 0.05 / (attempt * (attempt + 1))
    for differing in range(1, 150):
        base = [0.0] * differing + [0.0] * 50
        least = least_gain(Scored(0, base), Scored(0, [1.0] * differing + [0.0] * 50), step=0.0, attempt=attempt) * len(
            base
        )
        wins = math.ceil(round((least + differing) / 2, 9))  # wins less losses have to be so many
        chance = sum(math.comb(differing, one) for one in range(wins, differing + 1)) / 2**differing
        assert chance <= level, differing
