"""The ladder: what an attacker gains from a sealed board, and what it shows of systems that are really better."""

import array
import math
import random
import zlib
from statistics import fmean, stdev

import pytest

from evaluation.boards.ladder import Scored, chance_of, level_at, rounded, shown_score
from evaluation.services import _packed, _unpacked

ITEMS, SUBMISSIONS, ACCOUNTS, SEEDS, STEP = 1000, 200, 5, 20, 0.01


def accuracy(predicted, labels):
    values = [float(a == b) for a, b in zip(predicted, labels, strict=True)]
    return Scored(fmean(values), values, is_binary=True)


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


def binary(values):
    return Scored(fmean(values), values, is_binary=True)


def test_the_chance_of_right_and_wrong_units_by_hand():
    first, second = binary([1.0, 0.0, 0.0, 0.0]), binary([0.0, 1.0, 1.0, 0.0])
    assert chance_of(first, second) == pytest.approx(4 / 8)  # at least two heads of three coins
    assert chance_of(first, first) == pytest.approx(1)
    six = binary([0.0] * 6 + [1.0] * 14), binary([1.0] * 20)
    assert chance_of(*six) == pytest.approx(1 / 64)
    assert shown_score(*six, step=0.01, attempt=1) == 1.0  # one in 64 is less than one in 40
    assert shown_score(*six, step=0.01, attempt=2) is None
    assert shown_score(*six, step=0.5, attempt=1) is None
    assert rounded(0.7549, 0.01) == 0.75


def test_chance_passes_no_more_often_than_stated_however_few_items_differ():
    """For every number of differing items, the probability of all outcomes that a first submission would be shown for."""
    for attempt in (1, 2, 12):
        for differing in range(1, 60):
            shown = sum(
                math.comb(differing, wins) / 2**differing
                for wins in range(differing + 1)
                if chance_of(
                    binary([0.0] * wins + [1.0] * (differing - wins)),
                    binary([1.0] * wins + [0.0] * (differing - wins)),
                )
                <= level_at(attempt)
            )
            assert shown <= level_at(attempt) * (1 + 1e-9)


def many_small_gains_few_large_losses(draw, units):
    """Return two systems; the second is no better: it gains a little, and loses much in 1.5 of 100 units."""
    lost = [draw.random() < 0.015 for _ in range(units)]
    old, new = [0.9] * units, [0.1 if is_lost else 0.9122 - 0.0001 for is_lost in lost]
    return Scored(fmean(old), old), Scored(fmean(new), new)


def test_noise_with_rare_large_losses_is_not_shown():
    """Symmetry was assumed here: a fifth of such first submissions passed."""
    draw = random.Random(4)
    passed = sum(chance_of(*many_small_gains_few_large_losses(draw, 100)) <= level_at(1) for _ in range(1_000))
    assert passed / 1_000 <= level_at(1)


@pytest.mark.parametrize("skewed", [0.02, 0.2, 0.5])
def test_noise_of_any_shape_is_shown_no_more_often_than_stated(skewed):
    """Losses are rare and large, or as frequent and large as gains; the mean difference is zero."""
    draw, passed, runs = random.Random(5), 0, 2_000
    for _ in range(runs):
        new = [0.5 - 0.5 if draw.random() < skewed else 0.5 + 0.5 * skewed / (1 - skewed) for _ in range(200)]
        passed += chance_of(Scored(0.5, [0.5] * 200), Scored(fmean(new), new)) <= level_at(1)
    assert passed / runs <= level_at(1) + 2 * math.sqrt(level_at(1) / runs)


def test_a_ranking_that_is_really_better_is_shown():
    draw, shown = random.Random(6), 0
    for _ in range(100):
        old = [draw.betavariate(2, 3) for _ in range(200)]
        new = [min(1.0, one + draw.gauss(0.08, 0.2)) if one < 0.9 else one for one in old]
        new = [max(0.0, one) for one in new]
        shown += shown_score(Scored(fmean(old), old), Scored(fmean(new), new), step=0.01, attempt=1) is not None
    assert shown > 80


def test_bounds_of_f1_are_what_an_answer_can_add_at_most():
    scored = Scored(0.5, [0.5] * 3, low=-0.5, high=1.5)
    worse = Scored(0.4, [0.4] * 3, low=-0.7, high=1.4)
    assert chance_of(worse, scored) > chance_of(Scored(0.4, [0.4] * 3), Scored(0.5, [0.5] * 3))


def test_scores_that_were_stored_without_bounds_are_still_read():
    before = zlib.compress(array.array("d", [0.5, 0.25, 0.75, 1.5]).tobytes())
    assert _unpacked(before) == Scored(0.5, array.array("d", [0.25, 0.75, 1.5]), 0.0, 1.5)
    scored = Scored(0.5, array.array("d", [0.25, 0.75]), -0.5, 1.25)
    assert _unpacked(_packed(scored)) == scored
    assert _unpacked(_packed(binary([1.0, 0.0]))).is_binary
