"""Near duplicates: the join is what comparing all pairs gives, for every denominator."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.rules.near_duplicates import Denominator, Overlap, groups_of, near_duplicates, near_pairs
from sources.rules.terms import terms_of

SETS = st.lists(st.frozensets(st.sampled_from("abcdefghijklmnop"), max_size=14), max_size=24)
OVERLAPS = st.builds(
    Overlap, st.fractions(Fraction(1, 10), 1, max_denominator=20), st.sampled_from(Denominator), st.booleans()
)


def is_near(one, other, overlap):
    share = overlap.share(one, other)
    return bool(one & other) and (share > overlap.threshold if overlap.strictly_above else share >= overlap.threshold)


def everywhere(sets, overlap):
    """Compare all pairs."""
    return {frozenset(pair) for pair in combinations(range(len(sets)), 2) if is_near(*(sets[n] for n in pair), overlap)}


@given(SETS, OVERLAPS)
def test_the_join_finds_what_comparing_all_pairs_finds(sets, overlap):
    found = list(near_pairs(sets, overlap))
    assert {frozenset(pair) for pair in found} == everywhere(sets, overlap)
    assert len(found) == len(set(found))


@given(SETS, OVERLAPS)
def test_groups_are_the_connected_components(sets, overlap):
    texts = {f"t{place:02d}": terms for place, terms in enumerate(sets)}
    groups = {key: {key} for key in texts}
    for pair in combinations(texts, 2):
        equal = texts[pair[0]] == texts[pair[1]] and texts[pair[0]]
        if equal or is_near(*(texts[key] for key in pair), overlap):
            merged = groups[pair[0]] | groups[pair[1]]
            groups |= dict.fromkeys(merged, merged)
    wanted = {frozenset(group) for group in groups.values() if len(group) > 1}
    assert {frozenset(group) for group in groups_of(texts, overlap)} == wanted


@pytest.mark.parametrize(
    ("denominator", "share"),
    [("longer", Fraction(3, 5)), ("shorter", Fraction(3, 4)), ("mean", Fraction(6, 9)), ("all", Fraction(1, 2))],
)
def test_the_share_is_of_what_is_said(denominator, share):
    one, other = frozenset("abcd"), frozenset("bcdef")
    assert Overlap(of=Denominator(denominator)).share(one, other) == share


def test_ten_terms_with_nine_in_common_are_exactly_at_the_threshold():
    one, other = frozenset("abcdefghij"), frozenset("abcdefghik")
    assert not list(near_pairs([one, other], Overlap()))
    assert list(near_pairs([one, other], Overlap(strictly_above=False))) == [(0, 1)]


def test_what_is_dropped_names_what_was_kept_for_it():
    long = "how do i get red wine out of a white cotton shirt"
    texts = {
        key: frozenset(terms_of(text))
        for key, text in {
            "1": long,
            "2": f"{long} today",
            "3": "why is the sky blue",
            "4": long.upper() + "??",
        }.items()
    }
    dropped = {one.text: one for one in near_duplicates(texts, Overlap(), choose=max)}
    assert set(dropped) == {"1", "2"}
    assert dropped["1"].kept == "4" and dropped["1"].share == 1
    assert dropped["2"].share == Fraction(12, 13)
