"""Terms of a text, as filters and BM25 use them."""

import re
import unicodedata
from functools import cache

# Chinese and Japanese are written without blanks: each sign stands for itself.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LAST = 0xFFFF


@cache
def _term() -> re.Pattern[str]:
    marks = "".join(sign for sign in map(chr, range(_LAST)) if unicodedata.category(sign).startswith("M"))
    letter = rf"(?:(?![{_UNSPACED}])[^\W_]|[{re.escape(marks)}])"  # a mark belongs to the letter before it
    return re.compile(rf"[{_UNSPACED}]|{letter}+(?:['’]{letter}+)*")


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in order: lowercase words and numbers, and single Chinese and Japanese characters.

    Characters that are equal in Unicode's compatibility form (NFKC) are the same.

    >>> terms_of("Don't we have 3 kinds?")
    ["don't", 'we', 'have', '3', 'kinds']
    >>> terms_of("长江有多长?")
    ['长', '江', '有', '多', '长']
    """
    folded = unicodedata.normalize("NFKC", text.casefold())
    return [term.replace("’", "'") for term in _term().findall(folded)]
