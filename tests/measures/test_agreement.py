"""Krippendorff's alpha, held against his own example, his readers' library and the interval that it promises."""

import krippendorff
import numpy as np
import pytest
from scipy.stats import t

from measures import agreement
from measures.agreement import Level, alpha, alpha_alone
from measures.judgments import Judgments, Repeats, judgments_of
from tests.measures import crowds

# Twelve units, four coders (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C).
EXAMPLE = [
    [1, 1, None, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [None, 5, 5, 5],
    [None, None, 1, 1],
    [None, None, 3, None],
]


def judged(table):
    """Return the judgments of a table of units by coders."""
    return judgments_of(
        (unit, coder, value) for unit, row in enumerate(table) for coder, value in enumerate(row) if value
    )


def reference(judgments, level):
    domain = [float(label) for label in judgments.labels]
    return krippendorff.alpha(value_counts=judgments.counts(), value_domain=domain, level_of_measurement=level.value)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_own_example(level, published):
    found = alpha(judged(EXAMPLE), level=Level(level))
    assert found.alpha == pytest.approx(published, abs=0.0006)
    assert (found.units, found.values, found.annotators) == (11, 40, 4)
    assert found.low < found.alpha < found.high
    assert "fewer than 200 or 30" in found.warning


@pytest.mark.shared
@pytest.mark.parametrize("name", crowds.NAMES)
def test_published_crowds_have_the_alpha_of_the_library(shared, name):
    judgments, _ = crowds.real(shared, name)
    for level in (Level.NOMINAL, Level.ORDINAL, Level.INTERVAL):
        assert alpha(judgments, level=level).alpha == pytest.approx(reference(judgments, level), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_made_up_crowds_have_the_alpha_of_the_library(seed):
    chance = np.random.default_rng(seed)
    rows = {(int(chance.integers(9)), int(chance.integers(5))): int(chance.integers(1, 5)) for _ in range(40)}
    judgments = judgments_of([(item, person, label) for (item, person), label in rows.items()])
    for level in Level:
        assert alpha(judgments, level=level).alpha == pytest.approx(reference(judgments, level), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_our_own_sums_and_the_package_are_the_same_but_for_rounding(seed, monkeypatch):
    chance = np.random.default_rng(100 + seed)
    rows = {(int(chance.integers(20)), int(chance.integers(6))): int(chance.integers(-1, 4)) for _ in range(80)}
    judgments = judgments_of([(item, person, label) for (item, person), label in rows.items()])
    by_package = {level: (alpha(judgments, level=level), alpha_alone(judgments, level)) for level in Level}
    monkeypatch.setattr(agreement, "_MOST_OF_PACKAGE", 0)
    monkeypatch.setattr(krippendorff, "alpha", None)
    for level, (whole, alone) in by_package.items():
        own = alpha(judgments, level=level)
        assert whole.alpha == alone == pytest.approx(own.alpha, abs=1e-9)
        assert (whole.low, whole.high) == pytest.approx((own.low, own.high), abs=1e-9)


def test_the_coefficient_is_that_of_the_package(monkeypatch):
    monkeypatch.setattr(krippendorff, "alpha", lambda **_: 0.25)
    assert alpha(judged(EXAMPLE)).alpha == alpha_alone(judged(EXAMPLE), Level.NOMINAL) == 0.25


def without(judgments, keep):
    return alpha(judgments.part(keep), level=Level.ORDINAL).alpha


def test_the_interval_is_that_of_leaving_out_items_annotators_and_judgments():
    judgments, _ = crowds.crossed(np.random.default_rng(3), items=14, people=6, votes=3)
    found = alpha(judgments, level=Level.ORDINAL)
    variances = []
    for column in (judgments.item, judgments.annotator, np.arange(len(judgments))):
        values = np.array([without(judgments, column != one) for one in np.unique(column)])
        variances.append((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum())
    items, people, both = variances
    effective = min(
        1 / ((np.bincount(column) / len(column)) ** 2).sum() for column in (judgments.item, judgments.annotator)
    )
    assert effective < found.annotators  # some give more judgments than others
    half = t.ppf(0.975, effective - 1) * np.sqrt(max(items + people - both, items, people))
    assert found.low == pytest.approx(found.alpha - half, abs=1e-9)
    assert found.high == pytest.approx(min(1, found.alpha + half), abs=1e-9)


@pytest.mark.parametrize("level", [Level.NOMINAL, Level.ORDINAL])
def test_the_interval_covers_what_other_items_and_people_would_give(level):
    """Sixty crowds here; a thousand by hand (docs/explanation/agreement.md)."""
    chance = np.random.default_rng(11)
    true = np.mean([alpha(crowds.crossed(chance, 3_000, 1_500, 3)[0], level=level).alpha for _ in range(3)])
    covers = 0
    for _ in range(60):
        found = alpha(crowds.crossed(chance, 200, 30, 3)[0], level=level)
        covers += found.low <= true <= found.high
    assert covers >= 52


def test_what_is_undefined_says_why():
    nothing = judgments_of([])
    assert alpha(nothing).why == "no item has two judgments"
    assert alpha(judgments_of([("a", "x", 1), ("b", "y", 2)])).why == "no item has two judgments"
    one = [("a", "x", 1), ("a", "y", 1)]
    assert alpha(judgments_of(one)).why == "only one item has two judgments"
    assert alpha(judgments_of([*one, ("b", "x", 1), ("b", "y", 1)])).why == "all labels are the same"
    thin = alpha(judgments_of([("a", "x", 1), ("a", "y", 1), ("b", "x", 2), ("b", "y", 2)]))
    assert (thin.alpha, thin.low) == (1.0, None)
    assert "no interval" in thin.warning


def test_an_item_judged_once_changes_nothing():
    rows = [(item, person, (item * person) % 3) for item in range(6) for person in range(1, 4)]
    more = [*rows, ("alone", 1, 2)]
    assert alpha(judgments_of(more)).alpha == alpha(judgments_of(rows)).alpha


def test_judgments_that_are_repeated_are_refused_or_one_of_them_is_kept():
    rows = [("a", "x", 1), ("b", "x", 2), ("a", "x", 3)]
    with pytest.raises(ValueError, match="'x' judged 'a' twice"):
        judgments_of(rows)
    for repeats, labels in ((Repeats.FIRST, [1, 2]), (Repeats.LAST, [2, 3])):
        kept = judgments_of(rows, repeats=repeats)
        assert sorted(kept.labels[place] for place in kept.label) == labels
        assert (len(kept), kept.repeated) == (2, 1)


def test_labels_are_in_order_of_size():
    assert judgments_of([("a", "x", "10"), ("b", "x", "9")]).labels == ("9", "10")
    assert judgments_of([("a", "x", "no"), ("b", "x", "9")]).labels == ("9", "no")
    assert isinstance(judgments_of([]), Judgments)


@pytest.mark.slow
def test_the_interval_covers_as_often_where_few_people_do_most():
    """With as many degrees of freedom as there are people, 269 of 300 intervals held the truth."""
    chance = np.random.default_rng(0)
    true = np.mean([alpha(crowds.skewed(chance, 3_000, 2_000)).alpha for _ in range(6)])
    found = [alpha(crowds.skewed(chance, 300, 60)) for _ in range(300)]
    assert sum(one.low <= true <= one.high for one in found) >= 276
