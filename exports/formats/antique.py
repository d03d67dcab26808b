"""The files of an ANTIQUE release: collection, queries, relevance judgments, blacklist.

Text files without a header, one record per line: ``id<TAB>text`` for answers and questions; four columns
``question  flag  answer  label`` for judgments. The flag names the source of the label: U0 the asker's own
choice (always 4, not judged), Q0 the crowd, E0 an expert. (readme.txt of the published release.)
"""

from dataclasses import dataclass

ASKER, CROWD, EXPERT = "U0", "Q0", "E0"
ASKER_LABEL = 4


@dataclass(frozen=True, slots=True)
class Judgment:
    """One line of a qrel file."""

    question_id: str
    flag: str
    answer_id: str
    label: int

    def line(self) -> str:
        """Return the line with single spaces: some loaders split on a single space, the others on any white space."""
        return f"{self.question_id} {self.flag} {self.answer_id} {self.label}"


def answer_order(answer_id: str) -> tuple[str, int, str]:
    """Return the sort key of an answer: its question, then its number in the question, if it has one. Ids stay text."""
    question, _, index = answer_id.rpartition("_")
    return (question, int(index), "") if index.isdecimal() and question else (answer_id, -1, answer_id)


def text_line(key: str, text: str) -> str:
    """Return ``id<TAB>text``. Readers expect exactly two fields, so a text must not contain tabs or line breaks."""
    return f"{key}\t{' '.join(text.split())}"
