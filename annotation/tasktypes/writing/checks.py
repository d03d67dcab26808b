"""Checks of a written question, which refuse it or warn its writer.

The NLPCC overviews say only that a writer sees one triple, or chooses a sentence first. The checks, for example that a
question must not contain its own answer, ensure that a system can be tested with the question.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from annotation.tasktypes.base import Remark
from annotation.tasktypes.writing.texts import compared, copied_share, key_of

EMPTY, SHORT, LONG, ANSWER, HINT, COPY, NEAR, TAKEN, SUBJECT, SEVERAL = (
    "empty",
    "short",
    "long",
    "answer",
    "hint",
    "copy",
    "near",
    "taken",
    "subject",
    "several",
)
LEAST_SIGNS, MOST_SIGNS = 4, 120
COPIED, NEARLY_COPIED = 0.9, 0.6  # shares of a question that are one piece of a sentence
_ENDS = re.compile(r"[?？]+")


def of_question(text: str, is_written: Callable[[str], bool]) -> Iterator[Remark]:
    """Yield the remarks that apply to any question."""
    plain = compared(text)
    if not plain:
        yield Remark(EMPTY, refuses=True)
        return
    if len(plain) < LEAST_SIGNS and not any(_is_wide(sign) for sign in plain):
        yield Remark(SHORT, refuses=True)
    if is_written(key_of(text)):
        yield Remark(TAKEN, refuses=True)
    if len(text) > MOST_SIGNS:
        yield Remark(LONG, refuses=False)
    if len(_ENDS.findall(text)) > 1:
        yield Remark(SEVERAL, refuses=False)


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


def holds_answer(text: str, answers: Iterable[str]) -> Iterator[Remark]:
    """Yield a refusal if a question contains its answer; only a warning for one-character answers, common in words."""
    plain = compared(text)
    for answer in answers:
        wanted = compared(answer)
        if wanted and wanted in plain:
            yield Remark(ANSWER, refuses=True) if len(wanted) > 1 else Remark(HINT, refuses=False)
            return


def names_subject(text: str, names: Iterable[str]) -> Iterator[Remark]:
    """Yield a warning if a question contains none of the names of its subject."""
    plain = compared(text)
    if plain and not any(wanted and wanted in plain for wanted in map(compared, names)):
        yield Remark(SUBJECT, refuses=False)


def copies(text: str, sentence: str) -> Iterator[Remark]:
    """Yield a refusal or a warning if a question is copied from the sentence that answers it."""
    share = copied_share(text, sentence)
    if share >= COPIED:
        yield Remark(COPY, refuses=True)
    elif share >= NEARLY_COPIED:
        yield Remark(NEAR, refuses=False)
