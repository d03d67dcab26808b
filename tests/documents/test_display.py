"""What annotators see of a page: every box, every word, and nothing that runs."""

import re

import pytest

from documents.html.canonical import canonical_text
from documents.html.display import box_html, display_html
from documents.html.errors import LimitExceeded
from documents.html.markup import Page
from documents.html.tokens import CandidateRules, tokenize

HOSTILE = """<div id=content><p onclick="x()" style="position:fixed" data-box="9" data-stage="x">one two three <script>alert(1)</script></p>
<p><a href="javascript:alert(1)">four five six seven</a><img src=x onerror=alert(1) alt="<b>seen</b>"></p>
<form action=/evil><input name=csrf><button>go</button></form><iframe src=//evil></iframe><svg onload=x><style>*{}</style></svg>
<ul class="button primary wiki-x infobox"><li id=work>eight nine ten eleven</li></ul><math><mtext><img src=y onerror=z></mtext></math>
<p dir="rtl" lang="ar">a b c d</p><table background="javascript:x"><tr><td colspan=2>e f g h</td></tr></table></div>"""


def rendered(html):
    result = tokenize(Page(html), CandidateRules(min_tokens=1))
    return result, display_html(html, result.candidates)


def test_nothing_that_runs_or_loads_survives():
    _, shown = rendered(HOSTILE)
    lowered = shown.lower()
    for word in (
        "script",
        "onclick",
        "onerror",
        "onload",
        "javascript",
        "style=",
        "href",
        "src=",
        "<form",
        "<input",
        "<iframe",
        "<svg",
        "background",
        "data-stage",
    ):
        assert word not in lowered, word
    assert 'id="' not in lowered
    assert "&lt;b&gt;seen&lt;/b&gt;" in shown


def test_a_page_cannot_borrow_the_platforms_classes_or_boxes():
    result, shown = rendered(HOSTILE)
    assert 'class="wiki-infobox"' in shown
    assert "primary" not in shown
    assert re.findall(r'data-box="(\d+)"', shown) == [str(index) for index in range(len(result.candidates))]


@pytest.mark.shared
def test_every_box_and_every_word_of_real_pages_can_be_reached(shared):
    for path in sorted((shared / "nq-html").glob("*.html"))[:4] + sorted((shared / "wiki-html").glob("*zh.html")):
        text = canonical_text(path.read_bytes())
        result, shown = rendered(text)
        assert set(map(int, re.findall(r'data-box="(\d+)"', shown))) == set(range(len(result.candidates))), path.name
        for candidate in result.candidates[::7]:
            marked = {
                int(index) for index in re.findall(r'data-token="(\d+)"', box_html(text, result.tokens, candidate))
            }
            words = range(candidate.start_token, candidate.end_token)
            assert marked == {index for index in words if not result.tokens[index].html_token}


def test_a_word_that_runs_over_a_tag_is_marked_in_pieces():
    html = "<p>Geo<i>logy</i> &amp; <b>so</b> on</p>"
    result = tokenize(Page(html))
    shown = box_html(html, result.tokens, result.candidates[0])
    assert shown.count('data-token="1"') == 2
    assert '<span data-token="2">&amp;</span>' in shown


@pytest.mark.parametrize("reference", ["&caps;", "&NotEqualTilde;", "&bne;", "&amp;"])
def test_words_after_a_reference_of_two_characters_are_marked_where_they_stand(reference):
    html = f"<p>one x {reference} y two three</p>"
    result = tokenize(Page(html), CandidateRules(min_tokens=1))
    shown = box_html(html, result.tokens, result.candidates[0])
    marked = {result.tokens[int(index)].token: text for index, text in re.findall(r'token="(\d+)">([^<]*)<', shown)}
    assert {word: marked[word] for word in ("one", "x", "y", "two", "three")} == {
        word: word for word in ("one", "x", "y", "two", "three")
    }


def test_a_small_page_that_stands_for_a_huge_one_is_refused():
    html = f'<p><b lang="{"x" * 5_000}">one' + "<p>two three" * 400
    with pytest.raises(LimitExceeded, match="unfolds"):
        display_html(html, [])


def test_a_box_that_stands_for_a_huge_one_by_itself_is_refused():
    """In MathML these are plain elements; the box alone is HTML, where every section opens all the fonts again."""
    fonts = "".join(f"<font t={number}>" for number in range(250))
    html = f"<p>one two<math><tr><section>{fonts}</section>{'<section>w</section>' * 1_000}</tr></math>"
    result = tokenize(Page(html), CandidateRules(min_tokens=1))
    assert display_html(html, [])
    with pytest.raises(LimitExceeded, match="unfolds"):
        display_html(html, result.candidates)


@pytest.mark.parametrize("tag", ["div", "main", "article"])
def test_of_a_page_with_its_content_marked_nothing_else_is_shown(tag):
    shown = display_html(f"<p>menu</p><{tag} id=content><p>one</p></{tag}>", [])
    assert "one" in shown and "menu" not in shown


def test_text_that_only_looks_like_content_is_not_taken_for_it():
    shown = display_html('<xmp id=content><p class="button" data-box=3></xmp><p>one</p>', [])
    assert "<p>one</p>" in shown and '<p class="button"' not in shown
