"""Terms of a text, as filters and BM25 count them."""

import re

# Chinese and Japanese are written without blanks: each sign stands for itself.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TERM = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)*")


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in order: words and numbers without regard to case, single Chinese and Japanese signs.

    >>> terms_of("Don't we have 3 kinds?")
    ["don't", 'we', 'have', '3', 'kinds']
    >>> terms_of("长江有多长?")
    ['长', '江', '有', '多', '长']
    """
    return [term.replace("’", "'") for term in _TERM.findall(text.casefold())]
