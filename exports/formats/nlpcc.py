"""The files of NLPCC's shared tasks, as they were released for 2016 and 2017.

KBQA: blocks of ``<question id=N><TAB>…``, ``<triple id=N><TAB>s ||| p ||| o``, ``<answer id=N><TAB>…`` and 50 ``=``,
each line ending in CRLF; UTF-8 without a byte order mark. DBQA: ``question<TAB>sentence<TAB>label``, consecutive lines
for each question, no header and no quoting. (The guideline's own KBQA sample has no triple and puts tabs between
answers, unlike the released files.)
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
        """Yield the lines of the block, without line ends."""
        yield f"<question id={self.number}>\t{self.question}"
        if self.triple is not None:
            yield f"<triple id={self.number}>\t{self.triple}"
        if self.answer is not None:
            yield f"<answer id={self.number}>\t{self.answer}"
        yield RULE


def pair_lines(question: str, sentences: Sequence[str], answer: int | None) -> Iterator[str]:
    """Yield the DBQA lines of a question without line ends; lines of sealed splits have no label."""
    for place, sentence in enumerate(sentences):
        label = "" if answer is None else f"\t{int(place == answer)}"
        yield f"{question}\t{sentence}{label}"
