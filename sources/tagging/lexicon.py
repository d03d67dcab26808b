"""A tagger that knows only the closed classes of English.

It needs no model, and supports half of the rules only in part.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from sources.rules.hearst import singular
from sources.rules.words import (
    ADVERBS,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    Word,
)

_CLASSES = (
    ("AUX", AUXILIARIES),
    ("PRON", PRONOUNS),
    ("DET", DETERMINERS),
    ("ADP", PREPOSITIONS),
    ("ADV", ADVERBS),
    ("CCONJ", CONJUNCTIONS),
    ("SCONJ", QUESTION_WORDS),
)


class LexiconTagger:
    """Tags by word lists; any word that isn't in them is treated as part of a noun phrase."""

    key: ClassVar[str] = "lexicon"
    version = "1"
    cannot: ClassVar[dict[str, str]] = {
        "1b": "later verbs other than do, be, have and modal verbs are not seen",
        "2": "verbs other than do, have and modal verbs are not seen",
        "3": "entities are not seen: no query holds",
        "4": "a noun phrase is any run of words of no closed class, its last word the head; relative clauses end nowhere",
        "5": "a noun phrase is any run of words of no closed class, its last word the head; names of works are not seen",
    }

    def tag(self, queries: Iterable[str]) -> Iterator[list[Word]]:
        """Yield the words of each query."""
        for query in queries:
            yield _words(query.lower().split())


def _words(texts: Sequence[str]) -> list[Word]:
    tags = [next((tag for tag, known in _CLASSES if text in known), "NUM" if text.isdigit() else "X") for text in texts]
    words: list[Word] = []
    phrase = 0
    for at, (text, tag) in enumerate(zip(texts, tags, strict=True)):
        inside = tag in ("X", "NUM") or (tag == "DET" and tags[at + 1 : at + 2] == ["X"])
        begins = inside and (at == 0 or words[-1].phrase is None or tag == "DET")
        phrase += begins
        # Of "world war 2" the head is "war": a number is none.
        is_head = tag == "X" and (
            at + 1 == len(texts) or tags[at + 1] not in ("X", "NUM") or set(tags[at + 1 :]) == {"NUM"}
        )
        words.append(Word(text, singular(text), tag, phrase=phrase if inside else None, is_head=is_head))
    return words
