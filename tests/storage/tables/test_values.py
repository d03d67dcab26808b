"""Spellings of one value, and values that only look alike."""

import doctest

import pytest

from storage import json_output as printed
from storage.tables import delimited, values
from storage.tables.values import Spelling, number_of, text_of


@pytest.mark.parametrize("module", [values, delimited, printed])
def test_the_examples_in_the_documentation_run(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed


def test_numbers_are_one_value_however_they_are_written():
    spelling = Spelling.of(["3", "3.0", "03", "３", "3e0", "-0", "0.50", "1"])
    assert [spelling.canonical[text] for text in ("3", "3.0", "03", "３", "3e0")] == ["3"] * 5
    assert (spelling.canonical["-0"], spelling.canonical["0.50"]) == ("0", "0.5")
    assert spelling.several == (("3", "3.0", "03", "３", "3e0"),)
    assert (spelling.text("3.00"), spelling.text("n/a"), spelling.text("9")) == ("3", "n/a", "9")


def test_texts_stay_texts_as_soon_as_one_is_no_number():
    spelling = Spelling.of(["3", "3.0", "n/a"])
    assert spelling.canonical == {"3": "3", "3.0": "3.0", "n/a": "n/a"}
    assert spelling.text("3.0") == "3.0"


def test_what_differs_by_case_or_width_is_told_and_stays_apart():
    spelling = Spelling.of(["Good", "good", "ｇood", "bad"])
    assert set(spelling.canonical.values()) == {"Good", "good", "ｇood", "bad"}
    assert spelling.notes("label") == [
        "column label: 'Good' and 'good' and 'ｇood' differ only by case or width and are different values"
    ]


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "1,5", "0x1", "", "3 4", "1e99999", "९a"])
def test_what_is_no_number_is_none(text):
    assert number_of(text) is None


def test_nothing_true_and_nothing_false_is_missing():
    assert [text_of(value) for value in (0, False, None, "", 0.0)] == ["0", "false", "", "", "0.0"]
