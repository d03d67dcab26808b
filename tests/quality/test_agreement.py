"""Krippendorff's alpha, held against published figures and Krippendorff's own example."""

import csv
from collections import defaultdict

import pytest

from quality.rules.agreement import alpha, label_counts

# Nominal and ordinal alpha of real crowds (shared facts, section 4.2).
FIGURES = {"web": (0.210, 0.383), "rte": (0.241, None), "dog": (0.519, None), "bluebird": (0.126, None)}


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_published_crowds_give_the_published_coefficients(shared, name):
    with (shared / "crowds" / name / "label.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    units = defaultdict(list)
    for item, _, label in (row[:3] for row in rows if row[2].lstrip("-").isdigit()):
        units[item].append(int(label))
    values = sorted({label for labels in units.values() for label in labels})
    counts = label_counts(list(units.values()), values)
    nominal, ordinal = FIGURES[name]
    assert alpha(counts, ordinal=False, resamples=1).alpha == pytest.approx(nominal, abs=0.001)
    if ordinal is not None:
        assert alpha(counts, ordinal=True, resamples=1).alpha == pytest.approx(ordinal, abs=0.001)


def test_krippendorffs_own_example():
    """Twelve units, four coders (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C)."""
    table = [[1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1],
             [2, 2, 2, 2], [5, 5, 5], [1, 1], [3]]  # fmt: skip
    found = alpha(label_counts(table, [1, 2, 3, 4, 5]), ordinal=False, resamples=50)
    assert found.alpha == pytest.approx(0.743, abs=0.001)
    assert alpha(label_counts(table, [1, 2, 3, 4, 5]), ordinal=True, resamples=1).alpha == pytest.approx(
        0.815, abs=0.001
    )
    assert (found.units, found.values) == (11, 40)
    assert found.low < found.alpha < found.high


def test_what_is_undefined_says_why():
    assert alpha([], ordinal=True).why == "no unit has two values"
    assert alpha([[1, 0], [0, 1]], ordinal=True).why == "no unit has two values"
    assert alpha([[3, 0], [2, 0]], ordinal=True).why == "all values are the same"


def test_perfect_agreement_is_one():
    assert alpha([[3, 0], [0, 3]], ordinal=True, resamples=1).alpha == 1
