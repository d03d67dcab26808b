"""Answers from a knowledge base: the longest subject named in a question, and its predicate most like the question."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from baselines.nlpcc.dbqa import terms_of
from sources.rules.triples import Triple, triple_of
from storage.text_files import LineFault, text_lines

MOST_TRIPLES = 200_000_000  # lines; the knowledge base of 2016 has 43 million, that of 2017 48
LONGEST_SUBJECT = 60  # characters that are looked for in a question
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


class Read(NamedTuple):
    """The triples that questions may need, by subject name, and the numbers of all lines and of damaged ones."""

    triples: dict[str, list[Triple]]
    lines: int
    damaged: int


def knowledge_read(path: Path, questions: Iterable[str]) -> Read:
    """Return the triples whose subject a question names; the rest of the knowledge base isn't kept in memory.

    Raises
    ------
    EvaluationError
        The file can't be read.
    """
    named = {part for question in questions for part in _parts(question)}
    triples: dict[str, list[Triple]] = defaultdict(list)
    lines = damaged = 0
    for _, line in text_lines(path, most=MOST_TRIPLES):
        lines += 1
        try:
            triple = triple_of(line)
        except LineFault:
            damaged += 1
            continue
        name = name_of(triple.subject)
        if name in named:
            triples[name].append(triple)
    return Read(dict(triples), lines, damaged)


def answers_to(question: str, triples: Mapping[str, list[Triple]]) -> list[str]:
    """Return the objects of the best triple's subject and predicate; nothing if no subject is named.

    Of equal predicates, the first in the knowledge base is taken.
    """
    name = max((part for part in _parts(question) if part in triples), key=len, default=None)
    if name is None:
        return []
    rest = set(terms_of(question.lower().replace(name, " ", 1)))
    own = triples[name]
    best = max(own, key=lambda triple: _overlap(triple.predicate, rest))
    found = [one.object for one in own if (one.subject, one.predicate) == (best.subject, best.predicate)]
    return list(dict.fromkeys(found))


def name_of(subject: str) -> str:
    """Return a subject's name in lower case, without title marks and without the brackets that disambiguate it."""
    return (_BRACKETS.sub("", subject).strip("《》") or subject).lower()


def _parts(question: str) -> Iterator[str]:
    text = question.lower()
    for start in range(len(text)):
        for end in range(start + 1, min(len(text), start + LONGEST_SUBJECT) + 1):
            yield text[start:end]


def _overlap(predicate: str, asked: set[str]) -> float:
    """Return the share of a predicate's characters and pairs of them that the question has."""
    terms = set(terms_of(predicate))
    return len(terms & asked) / len(terms) if terms else 0.0
