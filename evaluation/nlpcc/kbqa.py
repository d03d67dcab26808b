"""Knowledge-base questions (KBQA): sets of answers, scored by averaged F1.

A record is a line ``<question id=N><TAB>…``, optionally ``<triple id=N><TAB>s ||| p ||| o``, and
``<answer id=N><TAB>a``; a line of ``=`` may follow. Several answers are separated by `` | ``, as in the released files,
or by tabs, as in the guideline. A prediction file has the same form; its questions may be omitted.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError
from evaluation.nlpcc.dbqa import ENCODINGS
from evaluation.statistics import RESAMPLES, mean_intervals, means
from storage.text_files import text_lines

_LINE = re.compile(r"<(question|triple|answer) id=(\d{1,18})>(?:\t(.*))?", re.DOTALL)
_BETWEEN = re.compile(r" \| |\t")
_SPACE = re.compile(r"\s+")
MOST_LINES = 600_000  # six times as many as the training and test sets of 2016 have together
MOST_ANSWERS = 1_000_000
_MOST_NAMED = 100
Answers = frozenset[str]


@dataclass(slots=True)
class Answered:
    """The answers of a file by question number, and its errors by line."""

    answers: dict[int, Answers] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    damaged_lines: int = 0
    count: int = 0  # of answers

    def take(self, which: int, answers: Answers) -> None:
        """Keep the answers to a question."""
        self.answers[which] = answers
        self.count += len(answers)

    def note(self, line: int, why: str) -> None:
        """Count a damaged line; the first hundred are reported with their line numbers."""
        self.damaged_lines += 1
        if len(self.damaged) < _MOST_NAMED:
            self.damaged.append(f"line {line}: {why}")


def read_answers(path: Path) -> Answered:
    """Return the answers of a file; a damaged record is reported and skipped.

    Raises
    ------
    EvaluationError
        The file cannot be read, has no answers, or has more than any real file.
    """
    found, number = Answered(), 0
    asked: int | None = None  # the question that waits for its answer
    for number, text in text_lines(path, ENCODINGS, most=MOST_LINES):
        if text.strip("= \t"):
            asked = _read_line(found, number, text, asked)
        if found.count > MOST_ANSWERS:
            raise EvaluationError(f"{path}: line {number}: there are more than {MOST_ANSWERS:,} answers")
    if asked is not None:
        found.note(number, f"question {asked} has no answer")
    if not found.answers:
        raise EvaluationError(f"{path}: holds no answer; expected lines such as <answer id=1>, a tab and the answer")
    return found


def read_questions(path: Path) -> dict[int, str]:
    """Return the questions of a file by their numbers.

    Raises
    ------
    EvaluationError
        The file cannot be read, or has no questions.
    """
    found: dict[int, str] = {}
    for _, text in text_lines(path, ENCODINGS, most=MOST_LINES):
        matched = _LINE.fullmatch(text)
        if matched and matched[1] == "question":
            found.setdefault(int(matched[2]), (matched[3] or "").strip())
    if not found:
        raise EvaluationError(
            f"{path}: holds no question; expected lines such as <question id=1>, a tab and the question"
        )
    return found


def _read_line(found: Answered, number: int, text: str, asked: int | None) -> int | None:
    """Process one line, and return the number of the question that still needs an answer, if any."""
    matched = _LINE.fullmatch(text)
    if matched is None:
        found.note(number, "isn't a question, triple, or answer")
        return asked
    kind, which = matched[1], int(matched[2])
    if kind == "question":
        if asked is not None:
            found.note(number, f"question {asked} has no answer")
        return which
    if asked not in (None, which):
        found.note(number, f"{kind} {which} stands under question {asked}")
        return None if kind == "answer" else asked
    if kind == "triple":
        return asked
    if which in found.answers:
        found.note(number, f"question {which} was answered before")
    else:
        found.take(which, answers_of(matched[3] or ""))
    return None


def answers_of(text: str) -> Answers:
    """Return the answers in a text, in lower case and without white space, as the public script compares them."""
    found = (_SPACE.sub("", one).lower() for one in _BETWEEN.split(text))
    return frozenset(one for one in found if one)


def kbqa_report(gold: Answered, predicted: Answered, *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Any]:
    """Return averaged precision, recall and F1 over the questions that have answers in the gold file.

    Predictions for other questions are ignored: the shared task added such questions and didn't score them.
    """
    wanted = {which: answers for which, answers in gold.answers.items() if answers}
    if not wanted:
        raise EvaluationError("the gold file holds no answer to compare with")
    rows = [set_scores(answers, predicted.answers.get(which, frozenset())) for which, answers in sorted(wanted.items())]
    values = {name: [row[name] for row in rows] for name in rows[0]}
    return {
        "questions": len(wanted),
        "without_answer": len(gold.answers) - len(wanted),
        "unanswered": sum(not predicted.answers.get(which) for which in wanted),
        "beyond": _beyond(predicted.answers, wanted),
        "metrics": means(values),
        "intervals": mean_intervals(values, resamples=resamples, seed=seed),
        "damaged": {
            "gold": {"lines": gold.damaged_lines, "first": gold.damaged},
            "predictions": {"lines": predicted.damaged_lines, "first": predicted.damaged},
        },
    }


def _beyond(predicted: Mapping[int, Answers], wanted: Collection[int]) -> int:
    return sum(which not in wanted for which in predicted)


def set_scores(wanted: Answers, given: Answers) -> dict[str, float]:
    """Return precision, recall and F1 of the answers to one question; 0 if the sets have no common element."""
    both = len(wanted & given)
    precision, recall = (both / len(given) if given else 0.0), both / len(wanted)
    f1 = 2 * precision * recall / (precision + recall) if both else 0.0
    return {"precision": precision, "recall": recall, "F1": f1}
