"""Texts that people write: as they are kept, and as they are compared."""

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
        It is no text, too long, or holds a sign that is none.
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
    """Return a text without what does not matter: case, blanks, punctuation, and Unicode's compatibility forms."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in plain if unicodedata.category(sign)[0] not in "ZPC")


def key_of(text: str) -> str:
    """Return what two texts have in common that read the same; nothing of a text without words."""
    plain = compared(text)
    return sha256(plain.encode()).hexdigest() if plain else ""


def copied_share(text: str, source: str) -> float:
    """Return how much of a text is one piece of another, as a share of its signs."""
    one, other = compared(text), compared(source)
    if not one:
        return 0.0
    match = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return match.size / len(one)
