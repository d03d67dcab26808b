"""Votes with ties as values."""

from hypothesis import given
from hypothesis import strategies as st

from measures.voting import Decided, NoAgreement, TooFew, strict_majority, unique_plurality
from quality.labels.ties_and_rounds import Stage, Vote, standing
from quality.policies.policy import Policy, Process, SecondRound

POOLED = Policy(second_round=SecondRound.POOLED)
LABELS = st.lists(st.integers(1, 4), max_size=9)


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


def test_pooled_asks_the_expert_where_the_second_round_alone_would_decide():
    """First 4 3 2, second 1 1 4: alone it is 1 by majority; pooled, 1 and 4 have two votes each."""
    first = [Vote(key, label) for key, label in enumerate((4, 3, 2))]
    second = [Vote(key, label) for key, label in enumerate((1, 1, 4), start=10)]
    alone = standing(first, second, None, needed=3, policy=Policy())
    assert (alone.stage, alone.label, alone.rule) == (Stage.DONE, 1, "second")
    assert standing(first, second, None, needed=3, policy=POOLED).stage is Stage.EXPERT
    pooled = standing(first, [Vote(10, 3), Vote(11, 3), Vote(12, 1)], None, needed=3, policy=POOLED)
    assert (pooled.label, pooled.rule) == (3, "pooled")


def votes(*labels, start=0):
    return [Vote(key, label) for key, label in enumerate(labels, start=start)]


def test_where_all_items_get_as_many_votes_most_votes_decide_and_ties_go_to_experts():
    fixed = Policy(process=Process.FIXED)
    assert standing(votes(1, 1), [], None, needed=3, policy=fixed).stage is Stage.FIRST
    found = standing(votes(1, 1, 2, 3, 4), [], None, needed=5, policy=fixed)
    assert (found.label, found.rule, found.inputs) == (1, "plurality", (0, 1, 2, 3, 4))
    assert standing(votes(1, 1, 2, 2), [], None, needed=4, policy=fixed).stage is Stage.EXPERT
    assert standing(votes(1, 1, 2, 2), [], 2, needed=4, policy=fixed).rule == "expert"
    assert standing(votes(1, 1, 2), votes(2, 2, start=9), None, needed=3, policy=fixed).label == 1


def test_where_votes_are_bought_all_count_and_experts_overrule():
    target = Policy(process=Process.TARGET)
    assert standing(votes(1, 1), votes(1, start=9), None, needed=3, policy=target).stage is Stage.FIRST
    assert standing(votes(1, 1, 2), [], None, needed=3, policy=target).label == 1
    assert standing(votes(1, 1, 2), votes(2, start=9), None, needed=3, policy=target).stage is Stage.MORE
    found = standing(votes(1, 1, 2), votes(2, 2, start=9), None, needed=3, policy=target)
    assert (found.label, found.rule, found.inputs) == (2, "plurality", (0, 1, 2, 9, 10))
    found = standing(votes(1, 1, 2), [], 3, needed=3, policy=target)
    assert (found.label, found.rule) == (3, "expert")
