"""Texts that people write: their stored form and their form for comparisons."""

import unicodedata
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Any

from annotation.tasktypes.base import AnswerError

LONGEST = 500  # signs that are kept


def one_line(value: Any, field: str) -> str:
    """Return a text as published files hold it: composed (NFC), with single blanks, no tab and no line break.

    Raises
    ------
    AnswerError
        The value isn't text, is too long, or holds an invalid character.
    """
    if not isinstance(value, str):
        raise AnswerError("text_expected", field)
    text = " ".join(unicodedata.normalize("NFC", value).split())
    if len(text) > LONGEST:
        raise AnswerError("text_too_long", field, most=LONGEST)
    if any(unicodedata.category(sign) in ("Cc", "Cs", "Co", "Cn") for sign in text):
        raise AnswerError("text_unpublishable", field)
    return text


def compared(text: str) -> str:
    """Return a text without irrelevant differences: case, blanks, punctuation, and Unicode's compatibility forms."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in plain if unicodedata.category(sign)[0] not in "ZPC")


def key_of(text: str) -> str:
    """Return a key that is equal for texts that read the same; empty for a text without words."""
    plain = compared(text)
    return sha256(plain.encode()).hexdigest() if plain else ""


def copied_share(text: str, source: str) -> float:
    """Return the share of a text's characters in its longest piece copied from another text."""
    one, other = compared(text), compared(source)
    if not one:
        return 0.0
    match = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return match.size / len(one)
