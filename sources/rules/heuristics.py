"""The five heuristics by which Natural Questions took questions from queries (Kwiatkowski et al. 2019, section 3.1).

The paper states each in a sentence and gives five examples (Table 1). Where the paper's words are ambiguous,
the rules here are chosen so that the examples hold:

- Rule 4's example, "how far is chardon ohio from cleveland ohio", has no common noun after its preposition: a place
  with its state or country counts as a categorical noun phrase.
- Rule 5's example, "american comedian on have i got news for you", does contain a preposition: the rule also holds
  for a categorical noun phrase, a preposition and the name of a work, and prepositions inside names are ignored.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from sources.rules.hearst import singular
from sources.rules.words import (
    DETERMINERS,
    FINITE_BE,
    FINITE_DO,
    FINITE_HAVE,
    MODALS,
    PRONOUNS,
    REGIONS,
    RELATIVES,
    Word,
)

RULES = ("1a", "1b", "2", "3", "4", "5")
_STARTS = ("who", "when", "where")
_VERBS, _PREPOSITION = ("VERB", "AUX"), "ADP"
_SAYING = (*_VERBS, "ADJ", "ADV", "DET")  # one of these has to stand beside the entities of rule 3


class Phrase(NamedTuple):
    """A noun phrase: its first word, the one after its last, and its head."""

    first: int
    end: int
    head: int


def rules_of(words: Sequence[Word], categories: Collection[str]) -> frozenset[str]:
    """Return the `RULES` that hold for a query.

    Parameters
    ----------
    words
        The query as a tagger sees it.
    categories
        Lemmas of the nouns that name a kind of thing (`sources.rules.hearst`).
    """
    return frozenset(rule for rule, holds in _HOLDS.items() if holds(words, categories))


def _starts(words: Sequence[Word], second: Collection[str]) -> bool:
    return len(words) > 1 and words[0].text in _STARTS and words[1].text in second


def _asks_with_do(words: Sequence[Word], _categories: Collection[str]) -> bool:
    return _starts(words, FINITE_DO | MODALS)


def _asks_with_be(words: Sequence[Word], _categories: Collection[str]) -> bool:
    later = (word for word in words[2:] if word.entity is None)
    return _starts(words, FINITE_BE | FINITE_HAVE) and any(word.pos in _VERBS for word in later)


def _who_did(words: Sequence[Word], _categories: Collection[str]) -> bool:
    return len(words) > 1 and words[0].text == "who" and words[1].pos in _VERBS and words[1].text not in FINITE_BE


def _relates_entities(words: Sequence[Word], categories: Collection[str]) -> bool:
    named = [_is_named(word, categories) for word in words]
    outside = (word for word, inside in zip(words, named, strict=True) if not inside)
    says = any(word.pos in _SAYING and word.text not in ("when", "where") for word in outside)
    return says and _count_entities(words, named) > 1


def _names_kind_behind(words: Sequence[Word], categories: Collection[str]) -> bool:
    return any(
        phrase.first > 0
        and (_is_preposition(words[phrase.first - 1]) or words[phrase.first - 1].ends_relative)
        and (_is_categorical(words, phrase, categories) or _is_place_with_region(words, phrase))
        for phrase in phrases_of(words)
    )


def _ends_with_kind(words: Sequence[Word], categories: Collection[str]) -> bool:
    phrases = phrases_of(words)
    if not phrases:
        return False
    first, last = phrases[0], phrases[-1]
    if _is_kind_of_work(words, first, categories):
        return True
    is_last = last.end == len(words) and last.head >= len(words) - (2 if words[-1].pos == "NUM" else 1)
    plain = not any(_is_preposition(word) or word.ends_relative for word in words) and not _has_relative(words)
    return plain and is_last and _is_categorical(words, last, categories)


_HOLDS: Mapping[str, Callable[[Sequence[Word], Collection[str]], bool]] = {
    "1a": _asks_with_do,
    "1b": _asks_with_be,
    "2": _who_did,
    "3": _relates_entities,
    "4": _names_kind_behind,
    "5": _ends_with_kind,
}


def phrases_of(words: Sequence[Word]) -> list[Phrase]:
    """Return the noun phrases of a query, in their order."""
    found: list[Phrase] = []
    for at, word in enumerate(words):
        if word.phrase is None:
            continue
        if at and words[at - 1].phrase == word.phrase:
            last = found[-1]
            found[-1] = Phrase(last.first, at + 1, at if word.is_head else last.head)
        else:
            found.append(Phrase(at, at + 1, at))
    return found


def _is_named(word: Word, categories: Collection[str]) -> bool:
    """Return whether a word belongs to a name; taggers also tag lowercase kinds as proper nouns."""
    return word.entity is not None or (word.pos == "PROPN" and not _is_kind(word, categories))


def _count_entities(words: Sequence[Word], named: Sequence[bool]) -> int:
    """Return the number of entities: the tagger's entities, and sequences of other proper nouns."""
    runs = sum(
        inside and word.entity is None and not (at and named[at - 1] and words[at - 1].entity is None)
        for at, (word, inside) in enumerate(zip(words, named, strict=True))
    )
    return len({word.entity for word in words} - {None}) + runs


def _is_kind(word: Word, categories: Collection[str]) -> bool:
    return word.lemma in categories or singular(word.text) in categories


def _is_preposition(word: Word) -> bool:
    return word.pos == _PREPOSITION and word.entity is None


def _has_relative(words: Sequence[Word]) -> bool:
    """Return whether a relative pronoun follows a noun; a pronoun at the start of a query is a question word."""
    return any(
        word.text in RELATIVES
        and before.phrase is not None
        and word.pos not in ("DET", "SCONJ")
        and word.entity is None
        for before, word in pairwise(words)
    )


def _is_categorical(words: Sequence[Word], phrase: Phrase, categories: Collection[str]) -> bool:
    head = words[phrase.head]
    return head.entity is None and _is_kind(head, categories)


def _is_place_with_region(words: Sequence[Word], phrase: Phrase) -> bool:
    place = [word.text for word in words[phrase.first : phrase.end] if word.text not in DETERMINERS]
    return len(place) > 1 and place[-1] in REGIONS


def _is_kind_of_work(words: Sequence[Word], first: Phrase, categories: Collection[str]) -> bool:
    """Return whether a query is a kind of thing, a preposition, and a name.

    The name is one entity, or words that only occur in a name at that position.
    """
    rest = words[first.end + 1 :]
    if (
        first.first
        or not rest
        or not _is_preposition(words[first.end])
        or not _is_categorical(words, first, categories)
    ):
        return False
    is_entity = rest[0].entity is not None and len({word.entity for word in rest}) == 1
    is_sentence = len(rest) > 1 and (rest[0].pos in _VERBS or rest[0].text in PRONOUNS)
    return is_entity or is_sentence
