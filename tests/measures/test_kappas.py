"""Other coefficients, held against published figures and other people's software."""

import random

import numpy as np
import pytest

from measures.judgments import Columns, judgments_of
from measures.kappas import Weights, cohen_kappa, fleiss_kappa, gwet_ac, percent_agreement
from measures.set_agreement import PagesAgreement, jaccard_distance, masi_distance
from tests.measures.test_agreement import EXAMPLE, judged


def test_krippendorffs_example_has_the_published_coefficients():
    """As the R package irrCAC prints them for the same table (cac.raw4raters)."""
    counts = judged(EXAMPLE).counts()
    assert percent_agreement(counts) == pytest.approx(0.81818, abs=1e-5)
    assert gwet_ac(counts) == pytest.approx(0.77544, abs=1e-5)
    assert fleiss_kappa(counts) == pytest.approx(0.76117, abs=1e-5)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(5))
def test_fleiss_and_cohen_agree_with_statsmodels(seed):
    from statsmodels.stats.inter_rater import cohens_kappa
    from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

    chance = np.random.default_rng(seed)
    counts = chance.multinomial(4, [0.2, 0.5, 0.3], size=30).astype(float)
    assert fleiss_kappa(counts) == pytest.approx(reference_fleiss(counts, method="fleiss"), abs=1e-12)
    first, second = chance.integers(0, 4, 50), chance.integers(0, 4, 50)
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    for weights, name in ((Weights.IDENTITY, None), (Weights.LINEAR, "linear"), (Weights.QUADRATIC, "quadratic")):
        expected = cohens_kappa(table, wt=name, return_results=False)
        assert cohen_kappa(first.tolist(), second.tolist(), range(4), weights) == pytest.approx(expected, abs=1e-12)


def test_ac1_stays_high_where_kappa_falls():
    """Gwet's paradox: nearly all labels are the same, and people agree on that."""
    counts = np.array([[2.0, 0.0]] * 95 + [[1.0, 1.0]] * 5)
    assert fleiss_kappa(counts) < 0
    assert gwet_ac(counts) > 0.9


def test_what_is_undefined_is_none():
    once, same = np.array([[1.0, 0.0]]), np.array([[2.0, 0.0]])
    assert [percent_agreement(once), fleiss_kappa(once), gwet_ac(once)] == [None] * 3
    assert fleiss_kappa(same) is None
    assert cohen_kappa([], [], [1, 2]) is None
    assert cohen_kappa([1], [1], [1, 2]) is None


def drawn(chance):
    return frozenset(chance.sample(range(6), chance.randint(1, 4)))


@pytest.mark.peers
def test_distances_between_sets_are_those_of_nltk():
    from nltk.metrics import distance as theirs

    chance = random.Random(4)
    for _ in range(300):
        first, second = drawn(chance), drawn(chance)
        assert masi_distance(first, second) == pytest.approx(theirs.masi_distance(first, second))
        assert jaccard_distance(first, second) == pytest.approx(theirs.jaccard_distance(first, second))
    assert jaccard_distance(frozenset(), frozenset()) == masi_distance(frozenset(), frozenset()) == 0


def over(units, distance=masi_distance):
    found = PagesAgreement(distance)
    for values in units:
        found.add(values)
    return found.result()


@pytest.mark.peers
@pytest.mark.parametrize("ours", [masi_distance, jaccard_distance])
def test_alpha_over_sets_is_that_of_nltk_over_sets_of_different_pages(ours):
    from nltk.metrics import distance
    from nltk.metrics.agreement import AnnotationTask

    theirs = getattr(distance, ours.__name__)
    chance = random.Random(8)
    units = [
        [drawn(chance) if chance.random() < 0.7 else frozenset() for _ in range(chance.randint(1, 4))]
        for _ in range(15)
    ]
    paired = [row for row in units if len(row) > 1]
    task = AnnotationTask(
        [
            (str(coder), str(unit), frozenset((unit, word) for word in value))
            for unit, row in enumerate(paired)
            for coder, value in enumerate(row)
        ],
        lambda one, other: theirs(one, other) if one | other else 0.0,
    )
    assert over(units, ours).alpha == pytest.approx(task.alpha())
    assert (over(units).units, over(units).values) == (len(paired), sum(map(len, paired)))


def test_alpha_over_sets_says_why_it_is_undefined():
    assert over([[frozenset({1})]]).why == "no item has two judgments"
    assert over([[frozenset({1})] * 2]).why == "only one item has two judgments"
    assert over([[frozenset()] * 2] * 2).why == "all answers are the same"


def test_judgments_that_come_one_by_one_are_those_that_come_at_once():
    chance = random.Random(3)
    rows = [(0, "dee", 10)] + [
        (item, who, chance.choice([3, 10, 2]))
        for item in range(20)
        for who in ("ann", "bo", "cy")
        if chance.random() < 0.8
    ]
    columns = Columns()
    for row in rows:
        columns.add(*row)
    found, whole = columns.judgments(), judgments_of(rows)
    assert (found.labels, found.annotators) == (whole.labels, whole.annotators)
    assert found.labels == (2, 3, 10)
    assert found.counts().tolist() == whole.counts().tolist()
    assert len(Columns().judgments()) == 0
