"""The words of an answer as a person reads them."""

from annotation.tasktypes.nq.answers import reading_text
from documents.html.tokens import Token, Tokenization


def page(*words):
    """Make a page of (word, bytes before it); what begins with < is a tag."""
    tokens, at = [], 0
    for word, before in words:
        at += before
        tokens.append(Token(word, at, at + len(word.encode()), word.startswith("<")))
        at = tokens[-1].end_byte
    return Tokenization.of(tokens, [])


def test_words_stand_as_close_as_on_the_page():
    made = page(
        ("<P>", 0), ("thirty", 0), ("-", 0), ("one", 0), ("km", 1), (",", 4), ("(", 1), ("or", 0), (")", 0), ("</P>", 0)
    )
    assert reading_text((0, 10), made) == "thirty-one km, (or)"
    assert reading_text((2, 4), made) == "-one"


def test_chinese_has_no_blanks():
    assert reading_text((0, 3), page(("伦", 0), ("德", 0), ("港", 0))) == "伦德港"


def test_a_long_answer_is_cut():
    made = page(*[(f"w{number}", 1) for number in range(9)])
    assert reading_text((0, 9), made, most=3) == "w0 w1 w2 …"
    assert reading_text((0, 3), made, most=3) == "w0 w1 w2"
    assert reading_text((4, 4), made) == ""
