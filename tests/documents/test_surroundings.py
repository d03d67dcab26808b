"""What stands around a box: its heading, what introduces it, its neighbors, and nothing that could be marked."""

import pytest

from documents.html.surroundings import MOST_CHARACTERS, surroundings

PAGE = """<h2>Ferry</h2><p data-box="0">It leaves at:</p>
<ul data-box="1"><li data-box="2">seven, and <b>on Sundays</b> also<ul data-box="3"><li data-box="4">eight</li></ul></li>
<li data-box="5">noon</li></ul><h2>Fares</h2>
<table data-box="6"><caption>In crowns</caption><tbody><tr data-box="7"><th>From</th><th>Price</th></tr>
<tr data-box="8"><td>Brann</td><td>12</td></tr><tr data-box="9"><td>Sund</td><td>9</td></tr></tbody></table>
<dl data-box="10"><dt data-box="11">Child</dt><dd data-box="12">below twelve</dd></dl>"""


@pytest.mark.parametrize(
    ("box", "heading", "lead"),
    [
        (0, "Ferry", ""),
        (1, "Ferry", "<p>It leaves at:</p>"),
        (5, "Ferry", "<p>It leaves at:</p>"),
        (4, "Ferry", "<p>seven, and on Sundays also</p>"),
        (6, "Fares", ""),
        (8, "Fares", "<table><caption>In crowns</caption><tbody><tr><th>From</th><th>Price</th></tr></tbody></table>"),
        (12, "Fares", "<dl><dt>Child</dt></dl>"),
    ],
)
def test_a_box_has_what_introduces_it(box, heading, lead):
    found = surroundings(PAGE, box)
    assert (found.heading, found.lead) == (heading, lead)


def test_neighbours_are_those_beside_the_box_and_none_of_them_is_a_box():
    found = surroundings(PAGE, 9)
    assert "Brann" in found.before
    assert found.after == ""
    assert "Sund" not in found.before
    assert "data-box" not in found.before + surroundings(PAGE, 1).after


def test_a_neighbour_that_fills_screens_is_left_out_and_a_missing_box_has_none():
    long = f'<p>far</p><p>{"x" * (MOST_CHARACTERS + 1)}</p><p data-box="0">here</p><p>next</p>'
    found = surroundings(long, 0)
    assert (found.before, found.after) == ("", "<p>next</p>")
    assert surroundings(long, 7) == surroundings("", 0)


def test_what_a_page_hides_in_markup_stays_harmless_after_it_was_read_again():
    math = '<p data-box="0">x</p><p>a <math><mtext><table><mi><style><img src=x onerror=alert(1)></style></mi></table></mtext></math></p>'
    assert "onerror" not in surroundings(math, 0).after
