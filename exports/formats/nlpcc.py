"""The files of NLPCC's shared tasks, as they were released for 2016 and 2017.

KBQA: blocks of ``<question id=N><TAB>…``, ``<triple id=N><TAB>s ||| p ||| o``, ``<answer id=N><TAB>…`` and 50 ``=``, each line
with CRLF; UTF-8 without a mark. DBQA: ``question<TAB>sentence<TAB>label``, the lines of a question together, no header and no
quoting. (The guideline's own sample of KBQA has no triple and tabs between answers; the released files do not.)
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

RULE = "=" * 50
END = "\r\n"  # of a line of KBQA
_LINE = re.compile(r"<(question|triple|answer) id=([0-9]{1,18})>\t(.*)", re.DOTALL)


class Block(NamedTuple):
    """One question of KBQA; a question without an answer has neither triple nor answer."""

    number: int
    question: str
    triple: str | None = None
    answer: str | None = None

    def lines(self) -> Iterator[str]:
        """Yield its lines, without their ends."""
        yield f"<question id={self.number}>\t{self.question}"
        if self.triple is not None:
            yield f"<triple id={self.number}>\t{self.triple}"
        if self.answer is not None:
            yield f"<answer id={self.number}>\t{self.answer}"
        yield RULE


class Damage(NamedTuple):
    """Why lines are no block; ``line`` is the first that is wrong, from 1."""

    line: int
    why: str


def read_blocks(lines: Iterable[str]) -> Iterator[Block | Damage]:
    """Yield the blocks of a file, and in place of each that is damaged, where and why.

    Parameters
    ----------
    lines
        With or without their ends.
    """
    parts: dict[str, str] = {}
    number, damage, line = None, None, 0
    for line, text in enumerate((one.rstrip("\r\n") for one in lines), 1):
        if text == RULE:
            if damage is None and "question" not in parts:
                damage = Damage(line, "a block without a question ends here")
            yield damage or _block(number, parts)
            parts, number, damage = {}, None, None
            continue
        damage = damage or _take(line, text, parts, number)
        if damage is None:
            number = int(_LINE.fullmatch(text)[2])  # type: ignore[index]  # it matched
    if parts or damage:
        yield damage or Damage(line, f"the block of question {number} has no end")


def _take(line: int, text: str, parts: dict[str, str], number: int | None) -> Damage | None:
    """Add what a line says to its block; return what is wrong with it, if anything is."""
    matched = _LINE.fullmatch(text)
    if matched is None:
        return Damage(line, "is no question, triple or answer")
    kind, which = matched[1], int(matched[2])
    if number not in (None, which):
        return Damage(line, f"{kind} {which} stands in the block of question {number}")
    if kind in parts:
        return Damage(line, f"a second {kind} in the block of question {which}")
    if kind != "question" and "question" not in parts:
        return Damage(line, f"{kind} {which} stands before its question")
    parts[kind] = matched[3]
    return None


def _block(number: int | None, parts: dict[str, str]) -> Block:
    assert number is not None  # there is a question
    return Block(number, parts["question"], parts.get("triple"), parts.get("answer"))


def pair_lines(question: str, sentences: Sequence[str], answer: int | None) -> Iterator[str]:
    """Yield the lines of a question of DBQA, without their ends; where no answer is told, they have no label."""
    for place, sentence in enumerate(sentences):
        label = "" if answer is None else f"\t{int(place == answer)}"
        yield f"{question}\t{sentence}{label}"
