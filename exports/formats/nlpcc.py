"""The files of NLPCC's shared tasks, as they were released for 2016 and 2017.

KBQA: blocks of ``<question id=N><TAB>…``, ``<triple id=N><TAB>s ||| p ||| o``, ``<answer id=N><TAB>…`` and 50 ``=``, each line
with CRLF; UTF-8 without a mark. DBQA: ``question<TAB>sentence<TAB>label``, the lines of a question together, no header and no
quoting. (The guideline's own sample of KBQA has no triple and tabs between answers; the released files do not.)
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

RULE = "=" * 50
END = "\r\n"  # of a line of KBQA


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


def pair_lines(question: str, sentences: Sequence[str], answer: int | None) -> Iterator[str]:
    """Yield the lines of a question of DBQA, without their ends; where no answer is told, they have no label."""
    for place, sentence in enumerate(sentences):
        label = "" if answer is None else f"\t{int(place == answer)}"
        yield f"{question}\t{sentence}{label}"
