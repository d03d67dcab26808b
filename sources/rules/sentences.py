"""Splits Chinese and English texts into sentences, for items of document-based questions."""

import re
from collections.abc import Iterator

# What ends a sentence in Chinese ends it anywhere; quotation marks and brackets that close belong to it.
_CLOSING = r"[”’」』）)\]》〉\"']*"
_WIDE = re.compile(rf"(?<=[。！？])({_CLOSING})|(?<=……)({_CLOSING})")
# In English a full stop ends one only before a blank and something that can begin one.
_NARROW = re.compile(r"([.!?][\"'”’)\]]*)\s+(?=[\"'“‘(\[]?[A-Z0-9\u4e00-\u9fff])")
# After these, or after a single capital, it does not.
_SHORT = frozenset(
    "mr mrs ms dr prof sr jr st vs etc e.g i.e cf al fig no vol pp ca approx dept est inc ltd co corp gen gov sen rep rev hon "
    "capt col lt sgt jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k".split()
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each with single spaces. A line break ends a sentence."""
    for line in text.splitlines():
        for wide in _cut_wide(line):
            for sentence in _cut_narrow(wide):
                if plain := " ".join(sentence.split()):
                    yield plain


def _cut_wide(line: str) -> Iterator[str]:
    start = 0
    for match in _WIDE.finditer(line):
        if match.end() > start and match.end() < len(line) and line[match.end()] not in "。！？…":
            yield line[start : match.end()]
            start = match.end()
    yield line[start:]


def _cut_narrow(text: str) -> Iterator[str]:
    start = 0
    for match in _NARROW.finditer(text):
        if match[1][0] == "." and _is_short(text[start : match.start()]):
            continue
        yield text[start : match.end(1)]
        start = match.end()
    yield text[start:]


def _is_short(before: str) -> bool:
    """Return whether the word before a full stop is an abbreviation, which is written with it."""
    word = before.rsplit(None, 1)[-1].lstrip("\"'“‘([") if before.split() else ""
    return word.lower() in _SHORT or re.fullmatch(r"(?:[A-Z]\.)*[A-Z]", word) is not None
