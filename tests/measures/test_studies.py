"""The studies of the Natural Questions paper: by hand on three questions, and how often intervals hold the truth."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from measures import studies
from measures.studies import (
    bounds,
    by_agreement,
    chance_of_answer,
    chance_of_null,
    coverage,
    distinct,
    non_null,
    precision,
    share_of,
    threshold,
)

GRADES = ("correct", "debatable", "wrong")
# Three questions, 25 annotators each; the first annotation is the reference.
HARBOUR = ["p1"] * 18 + ["p2"] * 4 + ["p3"] + [None] * 2  # 23 of 25 found something
RIVER = ["t1"] * 6 + ["p9"] * 4 + [None] * 15  # 10 of 25
MOON = ["p5"] + [None] * 24  # the reference alone
ITEMS, JUDGED = [HARBOUR, RIVER, MOON], ["correct", "debatable", "wrong"]


def test_three_questions_by_hand():
    assert non_null(ITEMS) == [23 / 25, 10 / 25, 1 / 25]
    assert non_null(ITEMS, without_reference=True) == [22 / 24, 9 / 24, 0]
    found = precision(JUDGED, GRADES[:2], GRADES)
    assert (found["n"], found["psi"].share) == (3, 2 / 3)
    assert {grade: share.share for grade, share in found["grades"].items()} == dict.fromkeys(GRADES, 1 / 3)
    # Of 23 + 10 + 1 answers, 18 + 6 + 1 are the most popular of their question, 4 + 4 come second, 1 third.
    assert [one.share for one in coverage(ITEMS)] == pytest.approx([25 / 34, 33 / 34, 1, 1, 1])
    assert distinct(ITEMS) == {1: 1, 2: 1, 3: 1}


def test_figure_4_by_hand():
    rows = by_agreement(non_null(ITEMS), JUDGED, GRADES)
    assert [(row["above"], row["to"]) for row in rows] == [(0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1)]
    assert [row["all"].share for row in rows] == pytest.approx([1 / 3, 1 / 3, 0, 0, 1 / 3])
    assert [
        rows[place]["grades"][grade].share for place, grade in ((0, "wrong"), (1, "debatable"), (4, "correct"))
    ] == (pytest.approx([1 / 3] * 3))
    assert rows[0]["grades"]["correct"].share == 0
    alone = by_agreement(non_null(ITEMS, without_reference=True), JUDGED, GRADES)
    assert sum(row["all"].share for row in alone) == pytest.approx(1)  # nobody but the reference: in the lowest


def test_bounds_are_those_of_a_direct_count():
    """The measure of section 5.1 and the super-annotator of section 5.2, written down as they stand there."""
    partitions, chance = 30, np.random.default_rng(4)
    right = {"single": np.zeros(3), "system": np.zeros(3), **{alpha: np.zeros(3) for alpha in range(21)}}
    for answers in ITEMS:
        orders = chance.permuted(np.tile(np.arange(25), (partitions, 1)), axis=1)
        for order in orders:
            gold, others = [answers[one] for one in order[:5]], [answers[one] for one in order[5:]]
            wanted = sum(one is not None for one in gold) >= 2
            for one in others:
                right["single"] += [wanted and one in gold and one is not None, one is not None, wanted]
            says = next(filter(None, answers), None)
            right["system"] += [wanted and says in gold, says is not None, wanted]
            votes = Counter(one for one in others if one is not None)
            best = [one for one in votes if votes[one] == max(votes.values())]
            share = sum(one in gold for one in best) / max(len(best), 1)
            for alpha in range(21):
                answered = votes.total() >= alpha and bool(votes)
                right[alpha] += [answered * wanted * share, answered, wanted]
    found = bounds(ITEMS, partitions=partitions, seed=4, system=[next(filter(None, one), None) for one in ITEMS])
    assert {key: value for key, value in found.items() if key != "system"} == bounds(
        ITEMS, partitions=partitions, seed=4
    )
    for name, counts in (("single", right["single"]), ("super", right[8]), ("system", right["system"])):
        assert found[name]["precision"].share == pytest.approx(counts[0] / counts[1])
        assert found[name]["recall"].share == pytest.approx(counts[0] / counts[2])
        assert found[name]["f1"].share == pytest.approx(2 * counts[0] / (counts[1] + counts[2]))
    assert [one.share for one in found["sweep"]] == pytest.approx(
        [2 * right[alpha][0] / (right[alpha][1] + right[alpha][2]) for alpha in range(21)]
    )


def test_ties_of_the_super_annotator_favor_no_side():
    """Every split of nine answers into five references and four that predict, and every tied answer, enumerated."""
    answers = ["a", "b", "c", "d", "a", "b", "c", "d", "e"]
    right = []
    for gold in combinations(range(9), 5):
        votes = Counter(answers[one] for one in range(9) if one not in gold)
        best = [one for one in votes if votes[one] == max(votes.values())]
        right.append(sum(one in {answers[place] for place in gold} for one in best) / len(best))
    found = bounds([answers], alpha=1, partitions=20_000)["super"]["f1"].share
    assert found == pytest.approx(sum(right) / len(right), abs=0.01)


def test_who_all_agree_reach_everything():
    found = bounds([["a"] * 25, [None] * 25, ["b"] * 25], partitions=5)
    assert [found["single"][name].share for name in ("precision", "recall", "f1")] == [1, 1, 1]
    assert found["super"]["f1"].share == 1


def test_a_system_that_says_something_else_or_nothing_is_wrong():
    items = [["a"] * 25, ["b"] * 25]
    assert bounds(items, partitions=5, system=["a", "elsewhere"])["system"]["f1"].share == 0.5
    silent = bounds(items, partitions=5, system=[None, None])["system"]
    assert (silent["recall"].share, math.isnan(silent["precision"].share)) == (0, True)


@pytest.mark.parametrize(
    ("best", "null", "references", "beta"), [(0.3, 0.5, 5, 2), (0.1, 0.2, 5, 2), (0.4, 0.6, 3, 1), (0.05, 0.9, 7, 3)]
)
def test_the_chances_of_footnote_11_are_those_of_all_outcomes(best, null, references, beta):
    """Every vector of references, each annotator saying the best answer, another one, or null."""
    probabilities = {"best": best, "other": 1 - best - null, None: null}
    right = {"null": 0.0, "best": 0.0}
    for outcome in np.ndindex(*(3,) * references):
        said = [list(probabilities)[one] for one in outcome]
        weight = math.prod(probabilities[one] for one in said)
        found = [one for one in said if one is not None]
        right["null"] += weight * (len(found) < beta)
        right["best"] += weight * (len(found) >= beta and "best" in found)
    assert chance_of_null(null, references=references, beta=beta) == pytest.approx(right["null"])
    assert chance_of_answer(best, null, references=references, beta=beta) == pytest.approx(right["best"])


@pytest.mark.parametrize("null", [0.0, 0.3, 0.5, 0.6, 0.7])
def test_at_the_threshold_answer_and_null_are_as_good(null):
    found = threshold(null)
    if found is not None and found > 1e-9:
        assert chance_of_answer(found, null) == pytest.approx(chance_of_null(null))
    assert found is not None or chance_of_answer(1 - null, null) < chance_of_null(null)


def crowd(chance, count):
    """Return items as annotators answer them (25 of each), and the grades of their references, which are not null."""
    items, grades = [], []
    while len(items) < count:
        finds = chance.beta(1.2, 0.5)
        popular = chance.dirichlet([4, 1, 0.5])
        answers = [("abc"[chance.choice(3, p=popular)] if chance.random() < finds else None) for _ in range(25)]
        if answers[0] is None:  # drawn given that there is an answer
            continue
        items.append(answers)
        grades.append(GRADES[chance.choice(3, p=[0.7 * finds, 0.35 - 0.25 * finds, 0.65 - 0.45 * finds])])
    return items, grades


def numbers_of(items, grades):
    """Return the numbers whose intervals are tried."""
    table = precision(grades, GRADES[:2], GRADES)
    figure = by_agreement(non_null(items), grades, GRADES)
    found = {"Table 2, " + grade: share for grade, share in table["grades"].items()} | {"Table 2, Ψ": table["psi"]}
    found |= {f"Figure 4, to {row['to']}": row["all"] for row in figure}
    found |= {f"Figure 4, to {figure[4]['to']}, correct": figure[4]["grades"]["correct"]}
    found |= {f"coverage, {rank}": share for rank, share in enumerate(coverage(items)[:2], start=1)}
    people = bounds(items, partitions=20)
    return found | {f"{who}, {name}": share for who in ("single", "super") for name, share in people[who].items()}


@pytest.mark.slow
@pytest.mark.parametrize("campaigns", [60])
def test_intervals_hold_what_the_studies_estimate(campaigns):
    """Over seeded campaigns of 139 items: each interval as often as it says, within what so few campaigns can tell."""
    truth = {name: share.share for name, share in numbers_of(*crowd(np.random.default_rng(1), 6_000)).items()}
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for seed in range(campaigns):
        for name, share in numbers_of(*crowd(np.random.default_rng(100 + seed), 139)).items():
            held[name].append(share.low <= truth[name] <= share.high)
    rates = {name: sum(found) / campaigns for name, found in held.items()}
    assert min(rates.values()) >= 0.85, rates
    assert 0.92 <= sum(rates.values()) / len(rates) <= 0.985, rates


def test_a_few_items_that_are_alike_are_no_certainty():
    assert share_of([1] * 6).low < 0.65
    assert share_of([0.999, 0.998, 1, 0.999, 0.999, 1]).low < 0.65
    assert share_of([1] * 139).low == pytest.approx(0.973, abs=0.001)


@pytest.mark.parametrize("parts", [[1], [1] * 3, [0] * 7, [0.3] * 9, [1, 0.2]])
def test_a_share_lies_in_its_interval(parts):
    found = share_of(parts)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_a_share_of_nothing_is_no_number():
    assert math.isnan(share_of([0, 0], [0, 0]).share)
    assert studies.share_of([1, 1]).high == 1


@pytest.mark.parametrize("wrong", [0, 20])
def test_a_difference_has_an_interval_even_if_nobody_differs(wrong):
    found = studies.paired_difference([1] * 20, [0] * wrong + [1] * (20 - wrong))
    assert found.low < found.difference <= found.high
    assert found.high - found.low > 0.1
