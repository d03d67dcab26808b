"""Nouns that name a kind of thing: Hearst patterns over a corpus.

"Cities such as Lagos", "painters including Turner", "Lagos and other cities" show that the noun is a hypernym (Hearst
1992, "Automatic acquisition of hyponyms from large text corpora"). Natural Questions found its categorical noun phrases
this way (section 3.1, footnote 3), but doesn't name the corpus. Only the head noun is stored, because it decides.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NOUN = r"(?P<kind>[a-z]{3,30})"
_CAPITAL = r"[A-ZÀ-ÖØ-ÞČĆĐĞİŁŃŐŘŚŠŞŰŽ]"
_NAME = rf"(?P<name>{_CAPITAL}[\w'’-]*(?: (?:of |the |de )?{_CAPITAL}[\w'’-]*){{0,4}})"
# The patterns of the paper by Hearst, with a name as the hyponym: common nouns as hyponyms bring in too much that is no kind.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_NOUN},? such as (?:the |a |an )?{_NAME}",
        rf"\b[Ss]uch (?:[a-z]+ )?{_NOUN} as (?:the |a |an )?{_NAME}",
        rf"\b{_NOUN},? (?:including|especially|particularly|e\.g\.,?|for example,?|for instance,?) (?:the |a |an )?{_NAME}",
        rf"{_NAME},? (?:and|or) (?:many |some |several )?other (?:[a-z-]+ ){{0,2}}?{_NOUN}\b",
    )
)
# Plural nouns that stand in these places and name no kind.
_NO_KINDS = frozenset("one ones way thing part case example time day year month people person lot name other".split())
_IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "wives": "wife",
    "lives": "life",
    "leaves": "leaf",
    "people": "person",
    "series": "series",
    "species": "species",
    "movies": "movie",
    "cookies": "cookie",
    "mice": "mouse",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "criteria": "criterion",
    "phenomena": "phenomenon",
    "media": "medium",
}


class Instance(NamedTuple):
    """A name and the kind that a text gives for it, as a noun in its singular form."""

    kind: str
    name: str


def singular(noun: str) -> str:
    """Return the singular form of an English noun, by its ending."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    if noun.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return noun[:-2]
    if noun.endswith("s") and not noun.endswith(("ss", "us", "is")):
        return noun[:-1]
    return noun


def instances(text: str) -> Iterator[Instance]:
    """Yield the instances that a text gives by Hearst patterns; only plural nouns, since kinds are plural there."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            noun = match["kind"]
            kind = singular(noun)
            if (kind != noun and kind not in _NO_KINDS) or noun in ("series", "species"):
                yield Instance(kind, match["name"])
