"""What changed between two texts, paragraph by paragraph and, within one, word by word."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

ALIKE = 0.5  # share of two paragraphs that is the same, from which on one is the other, changed
WORD = re.compile(r"\s+|[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+|.")  # Chinese and Japanese go character by character
MARKS = re.compile(r"^#{1,6}[ \t]+|\*\*", re.MULTILINE)  # of Markdown, which readers of a change needn't see
MOST_WORDS = 3000  # of two paragraphs together that are compared word by word


class Part(NamedTuple):
    """A piece of a paragraph: kept (``""``), taken out (``del``) or put in (``ins``)."""

    kind: str
    text: str


def changed_paragraphs(before: str, after: str) -> list[list[Part]]:
    """Return the paragraphs that differ, in order, each as its parts; those that stayed are left out."""
    old, new = _paragraphs(before), _paragraphs(after)
    found: list[list[Part]] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            found += _replaced(old[a:b], new[c:d])
    return found


def _paragraphs(text: str) -> list[str]:
    plain = MARKS.sub("", text.replace("\r\n", "\n"))
    return [part.strip() for part in re.split(r"\n\s*\n", plain) if part.strip()]


def _replaced(old: Sequence[str], new: Sequence[str]) -> Iterator[list[Part]]:
    """Yield replaced paragraphs: word by word if the old and new one are similar, otherwise each as a whole."""
    for number in range(max(len(old), len(new))):
        one, other = old[number : number + 1], new[number : number + 1]
        words = _words(one[0], other[0]) if one and other else None
        if words is not None:
            yield words
            continue
        if one:
            yield [Part("del", one[0])]
        if other:
            yield [Part("ins", other[0])]


def _words(before: str, after: str) -> list[Part] | None:
    """Return a paragraph with its changed words marked; None where hardly anything of it stayed."""
    old, new = WORD.findall(before), WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < ALIKE:
        return None
    parts: list[Part] = []
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            parts.append(Part("", "".join(old[a:b])))
            continue
        pieces = [("del", "".join(old[a:b])), ("ins", "".join(new[c:d]))]
        parts += [Part(kind, text) for kind, text in pieces if text]
    return parts
