"""Votes with ties as values, and Dawid–Skene, held against published crowds."""

import csv
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.rules.dawid_skene import dawid_skene
from quality.rules.policy import SecondRound
from quality.rules.process import Stage, Vote, standing
from quality.rules.voting import Decided, NoAgreement, TooFew, strict_majority, unique_plurality

LABELS = st.lists(st.integers(1, 4), max_size=9)
# Accuracy against gold: vote with ties broken at random, and the full model (shared facts, section 4.2).
FIGURES = {
    "web": (0.731, 0.822), "rte": (0.896, 0.928), "dog": (0.822, 0.843), "bluebird": (0.759, 0.898), "d_sentiment": (0.932, 0.960),
}  # fmt: skip


def test_two_of_three_decide_and_three_different_do_not():
    assert strict_majority([4, 3, 4], needed=3) == Decided(4, 2, 3)
    assert strict_majority([4, 3, 1], needed=3) == NoAgreement((4, 3, 1), 1, 3)
    assert strict_majority([4, 4], needed=3) == TooFew(2, 3)


def test_half_is_no_majority_but_may_be_a_plurality():
    assert strict_majority([4, 4, 3, 1], needed=3) == NoAgreement((4,), 2, 4)
    assert unique_plurality([4, 4, 3, 1], needed=3) == Decided(4, 2, 4)
    assert unique_plurality([4, 4, 3, 3], needed=3) == NoAgreement((4, 3), 2, 4)


@given(LABELS, st.randoms())
def test_the_order_of_votes_changes_nothing(labels, random):
    shuffled = random.sample(labels, len(labels))
    for rule in (strict_majority, unique_plurality):
        one, other = rule(labels, needed=3), rule(shuffled, needed=3)
        assert type(one) is type(other)
        if isinstance(one, NoAgreement):
            assert set(one.tied) == set(other.tied)
        else:
            assert one == other


@given(LABELS)
def test_a_majority_is_always_a_plurality(labels):
    outcome = strict_majority(labels, needed=1)
    if isinstance(outcome, Decided):
        assert 2 * labels.count(outcome.label) > len(labels)
        assert unique_plurality(labels, needed=1) == outcome


def read(shared, name):
    folder = shared / "crowds" / name
    with (folder / "label.csv").open(newline="") as file:
        rows = [tuple(row[:3]) for row in csv.reader(file)]
    with (folder / "truth.csv").open(newline="") as file:
        truth = {row[0]: row[1] for row in csv.reader(file)}
    return rows, truth


@pytest.mark.shared
@pytest.mark.parametrize("name", FIGURES)
def test_published_crowds_give_the_published_accuracy(shared, name):
    rows, truth = read(shared, name)
    rows = [row for row in rows if row[0] != "question" and row[0] != "item"]
    votes = defaultdict(list)
    for item, _, label in rows:
        votes[item].append(label)
    expected, model = 0.0, dawid_skene(rows).best()
    known = [item for item in votes if item in truth]
    for item in known:
        outcome = unique_plurality(votes[item], needed=1)
        tied = (outcome.label,) if isinstance(outcome, Decided) else outcome.tied
        expected += (truth[item] in tied) / len(tied)  # what breaking ties at random comes to
    vote_figure, model_figure = FIGURES[name]
    assert expected / len(known) == pytest.approx(vote_figure, abs=0.004)
    assert sum(model[item] == truth[item] for item in known) / len(known) == pytest.approx(model_figure, abs=0.005)


def test_a_worker_who_always_says_the_opposite_is_understood():
    rows = []
    for number in range(60):
        right = number % 2
        rows += [(number, "good", right), (number, "better", right), (number, "contrary", 1 - right)]
    model = dawid_skene(rows)
    assert model.best() == {number: number % 2 for number in range(60)}
    contrary = model.confusion[model.workers.index("contrary")]
    assert contrary.diagonal() == pytest.approx(0.0, abs=0.01)
    assert model.posterior.sum(axis=1) == pytest.approx(1.0)
    assert model.confusion.sum(axis=2) == pytest.approx(1.0)


def test_a_doubled_judgment_and_no_judgment_are_refused():
    with pytest.raises(ValueError, match="twice"):
        dawid_skene([("a", "w", 1), ("a", "w", 2)])
    with pytest.raises(ValueError, match="no judgments"):
        dawid_skene([])


def test_pooled_asks_the_expert_where_the_second_round_alone_would_decide():
    """First 4 3 2, second 1 1 4: alone it is 1 by majority; pooled, 1 and 4 have two votes each."""
    first = [Vote(key, label) for key, label in enumerate((4, 3, 2))]
    second = [Vote(key, label) for key, label in enumerate((1, 1, 4), start=10)]
    alone = standing(first, second, None, needed=3, rule=SecondRound.ALONE)
    assert (alone.stage, alone.label, alone.rule) == (Stage.DONE, 1, "second")
    assert standing(first, second, None, needed=3, rule=SecondRound.POOLED).stage is Stage.EXPERT
    pooled = standing(first, [Vote(10, 3), Vote(11, 3), Vote(12, 1)], None, needed=3, rule=SecondRound.POOLED)
    assert (pooled.label, pooled.rule) == (3, "pooled")
