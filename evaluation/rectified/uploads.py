"""Reading the answers of systems: a table with a row for each question and system."""

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.tasktypes.base import TaskType
from storage.tables.faults import RowError
from storage.tables.reading import Row
from storage.tables.values import number_of, text_of, texts_of

MOST_ROWS = 1_000_000
MOST_SYSTEMS = 50
MOST_SCORE = 1_000_000
SHOWN = 3  # questions in a message


class SystemsRefused(ValueError):
    """A table of answers can't be used; the message says where and why. Nothing was saved."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its reference answers."""

    text: str
    references: tuple[str, ...]


@dataclass
class Uploaded:
    """The questions of a table, and by system the answer and automatic score of each question; an empty answer is none."""

    questions: dict[str, Question] = field(default_factory=dict)
    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    unscored: dict[str, set[str]] = field(default_factory=dict)  # by system, the questions without a score


def read_answers(task_type: TaskType, rows: Iterable[Row]) -> Uploaded:
    """Read rows with ``question_id``, ``question``, ``system``, ``answer``, and ``score`` or ``references``.

    A system without scores gets `exact_match`. An empty answer is none: it is wrong, and nobody judges it.

    Raises
    ------
    SystemsRefused
        A cell is missing or wrong, a row occurs twice, a question has two texts, or a system lacks a question.
    """
    found = Uploaded()
    for number, row in rows:
        if number > MOST_ROWS:
            raise SystemsRefused(f"the table has more than {MOST_ROWS:,} rows")
        try:
            if isinstance(row, RowError):
                raise row
            _add(found, task_type, row)
        except RowError as error:
            where = f", column {error.column}" if error.column else ""
            raise SystemsRefused(f"row {number}{where}: {error}") from error
    if not found.answers:
        raise SystemsRefused("the table has no rows")
    if len(found.answers) > MOST_SYSTEMS:
        raise SystemsRefused(f"a table has at most {MOST_SYSTEMS} systems, not {len(found.answers)}")
    for system, answers in found.answers.items():
        refuse_difference(system, answers, found.questions)
        _refuse_scores(found, system)
    return found


def _refuse_scores(found: Uploaded, system: str) -> None:
    """Refuse a system with scores in some rows only, or with nothing to compute them from."""
    unscored = found.unscored.get(system, set())
    if unscored and len(unscored) < len(found.answers[system]):
        raise SystemsRefused(f"{system!r} has a score in some rows and none for {min(unscored)!r}")
    if unscored and not any(question.references for question in found.questions.values()):
        raise SystemsRefused(f"{system!r} has no column score, and without references there is nothing to compare with")


def item_of(task_type: TaskType, uploaded: Uploaded, system: str, question_id: str) -> tuple[str, dict[str, Any]]:
    """Return the id and the row of the item in which an answer is judged; both empty if there is no answer.

    Nothing in them tells the system, and equal answers are one item.
    """
    question, answer = uploaded.questions[question_id], uploaded.answers[system][question_id]
    if not answer:
        return "", {}
    row: dict[str, Any] = {
        "question_id": question_id,
        "question": question.text,
        "references": list(question.references),
        "answer": answer,
    }
    return task_type.item_from_row(row).external_id, row


def refuse_difference(system: str, answers: Mapping[str, Any], questions: Iterable[str]) -> None:
    """Refuse a system whose questions aren't exactly these.

    Raises
    ------
    SystemsRefused
    """
    differ = sorted(set(answers) ^ set(questions))
    if differ:
        more = f" and {len(differ) - SHOWN:,} more" if len(differ) > SHOWN else ""
        named = ", ".join(map(repr, differ[:SHOWN]))
        raise SystemsRefused(f"all systems answer the same questions; {system!r} differs in {named}{more}")


def _add(found: Uploaded, task_type: TaskType, row: Mapping[str, Any]) -> None:
    question_id, system = (_text(row, name) for name in ("question_id", "system"))
    question = Question(_text(row, "question"), tuple(texts_of(row.get("references"), "references")))
    if found.questions.setdefault(question_id, question) != question:
        raise RowError(f"{question_id!r} had another text or other references in a row before", "question")
    answers = found.answers.setdefault(system, {})
    if question_id in answers:
        raise RowError(f"{system!r} answered {question_id!r} in a row before", "question_id")
    if isinstance(row.get("answer"), list | dict):
        raise RowError("expected a text", "answer")
    answer = text_of(row.get("answer")).strip()
    if answer:
        task_type.item_from_row(row)  # now that the row is known by its number
    answers[question_id] = answer
    score = _score(row)
    if score is None:
        found.unscored.setdefault(system, set()).add(question_id)
        score = float(exact_match(answer, question.references))
    found.scores.setdefault(system, {})[question_id] = score


def _score(row: Mapping[str, Any]) -> float | None:
    value = row.get("score")
    given = str(int(value)) if isinstance(value, bool) else text_of(value).strip()
    if not given:
        return None
    number = number_of(given)
    if number is None or not -MOST_SCORE <= number <= MOST_SCORE:
        raise RowError(f"{given!r} isn't a number between -{MOST_SCORE:,} and {MOST_SCORE:,}", "score")
    return float(number)


def _text(row: Mapping[str, Any], column: str) -> str:
    if column not in row:
        raise RowError(f"there is no such column; there are {', '.join(map(str, row))}", column)
    text = " ".join(text_of(row.get(column)).split())
    if not text:
        raise RowError("is empty", column)
    return text


def exact_match(answer: str, references: Iterable[str]) -> bool:
    """Return whether an answer equals a reference, without case, punctuation, articles, and blanks (Rajpurkar et al. 2016).

    Examples
    --------
    >>> exact_match("The Beatles!", ["Beatles"]), exact_match("", [""])
    (True, False)
    """
    plain = _plain(answer)
    return bool(plain) and any(plain == _plain(reference) for reference in references)


def _plain(text: str) -> str:
    without = "".join(one for one in text.lower() if one not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without).split())
