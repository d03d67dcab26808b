"""What the answers to gold keys say about the keys, and how many of them a campaign needs."""

from collections import defaultdict

import pytest

from measures.gold_tests import GoldTest
from quality.gold.key_statistics import catches, checks_among, doubtful_keys, keys_needed
from quality.policies.policy import Policy


def by_hand(test, hit_rate, checks):
    """Return the probability of having failed, by walking through all paths of hits and misses."""
    standing, failed = {(0, 0, 0): 1.0}, 0.0
    for _ in range(checks):
        after = defaultdict(float)
        for (passed, hits, misses), probability in standing.items():
            for more, share in (((hits + 1, misses), hit_rate), ((hits, misses + 1), 1 - hit_rate)):
                score = more[0] * test.hit + more[1] * test.miss
                if score >= test.limit(passed):
                    failed += probability * share
                elif score <= test.floor:
                    after[passed + 1, 0, 0] += probability * share
                else:
                    after[passed, *more] += probability * share
        standing = after
    return failed


@pytest.mark.parametrize("hit_rate", [0.95, 0.85, 0.6, 0.25])
def test_the_curve_of_who_is_paused_is_that_of_all_paths(hit_rate):
    test = GoldTest()
    curve = test.failure_curve(hit_rate, 60)
    assert curve[0] == 0
    for checks in (1, 3, 7, 20, 60):
        assert curve[checks] == pytest.approx(by_hand(test, hit_rate, checks), abs=1e-9)


def test_a_key_that_good_annotators_miss_comes_up_and_one_that_careless_ones_miss_does_not():
    rows = []
    for person in range(8):  # reliable, but for key "wrong"
        rows += [(f"k{key}", person, True) for key in range(10)] + [("wrong", person, person < 2)]
    for person in range(8, 30):  # careless: they miss what they are shown
        rows += [(f"k{key}", person, False) for key in range(10)]
    [doubt] = doubtful_keys(rows, good=0.9)
    assert (doubt.key, doubt.misses, doubt.people) == ("wrong", 6, 8)
    assert doubt.probability == pytest.approx(28 * 0.1**6 * 0.9**2 + 8 * 0.1**7 * 0.9 + 0.1**8)
    assert doubtful_keys([("k", 1, False)] * 2, good=0.9) == []


def test_the_campaign_of_the_paper_needs_as_many_keys_as_its_people_meet():
    policy = Policy()  # 5 of the first 25, then 3%
    assert checks_among(25, policy) == 5
    assert checks_among(257, policy) == 12
    assert keys_needed(people=577, items_each=257, policy=policy) == 174
    assert keys_needed(people=2, items_each=257, policy=policy) == 12  # nobody meets a key twice


def test_a_clicker_is_caught_early_by_checks_in_the_beginning():
    late, early = Policy(gold_first=0, gold_first_items=0), Policy(gold_first=10, gold_first_items=30, gold_rate=0.05)
    found = [catches(policy, hit_rate=0.25, after=(100,)) for policy in (late, early)]
    assert [one.items for one in found] == [117, 11]
    assert [round(one.paused[100], 2) for one in found] == [0.42, 1.0]
