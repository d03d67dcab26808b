"""Pairs to be judged: a question, a candidate answer, and the answer that the asker chose.

Ids are text from end to end: ``2146313_8`` is the ninth candidate of question 2146313, never a number.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from annotation.tasktypes.base import NewItem
from storage.tables.faults import RowError

MAX_CHARACTERS = 20_000
_ID = re.compile(r"[^\s]{1,100}")


def item_from_row(row: Mapping[str, Any]) -> NewItem:
    """Return the pair of a row: ids, both texts, and the asker's best answer, if there is one."""
    question_id = _text(row, ("question_id", "query_id", "qid"), "the id of the question")
    answer_id = _text(row, ("answer_id", "doc_id", "candidate_id"), "the id of the candidate answer")
    if not _ID.fullmatch(question_id):
        raise RowError("an id holds no blanks and at most 100 characters", "question_id")
    if not _ID.fullmatch(answer_id):
        raise RowError("an id holds no blanks and at most 100 characters", "answer_id")
    best_id = _optional(row, "possibly_correct_id")
    if best_id and not _ID.fullmatch(best_id):
        raise RowError("an id holds no blanks and at most 100 characters", "possibly_correct_id")
    if best_id == answer_id:
        raise RowError("the asker's best answer is assumed to be relevant and is not judged", "answer_id")
    content = {
        "question_id": question_id,
        "question_text": _one_line(_text(row, ("question", "question_text"), "the question"), "question"),
        "answer_id": answer_id,
        "answer_text": _one_line(_text(row, ("answer", "answer_text"), "the candidate answer"), "answer"),
        "possibly_correct_id": best_id,
        "possibly_correct_answer": _one_line(
            _optional(row, "possibly_correct_answer") or _optional(row, "best_answer"),
            "possibly_correct_answer",
        ),
        "category": _optional(row, "category")[:200],
    }
    if best_id and not content["possibly_correct_answer"]:
        raise RowError("the id of the possibly correct answer is given, but not its text", "possibly_correct_answer")
    # A pool crosses questions, so one answer can stand in several pairs.
    identity = "\t".join([question_id, content["question_text"], answer_id, content["answer_text"]])
    return NewItem(f"{question_id} {answer_id}", content, identity, question=question_id)


def shared_texts(content: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (column, kind, id, text) of the question and of both answers: a collection holds each id once."""
    yield "question", "question", content["question_id"], content["question_text"]
    yield "answer", "answer", content["answer_id"], content["answer_text"]
    if content.get("possibly_correct_id"):
        yield "possibly_correct_answer", "answer", content["possibly_correct_id"], content["possibly_correct_answer"]


def rows_of(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the pairs of an nfL6 record, all answers but the asker's best; any other row is itself a pair.

    Raises
    ------
    RowError
        The best answer is not among the answers of the record.
    """
    if "nbestanswers" not in record:
        yield record
        return
    answers, best = record["nbestanswers"], record.get("answer")
    if not isinstance(answers, list) or not all(isinstance(text, str) for text in answers):
        raise RowError("expected a list of texts", "nbestanswers")
    if best not in answers:
        raise RowError("the best answer is not one of nbestanswers", "answer")
    question_id = str(record.get("id", ""))
    chosen = answers.index(best)
    for index, text in enumerate(answers):
        if index != chosen:
            yield {
                "question_id": question_id,
                "question": record.get("question"),
                "category": record.get("main_category", ""),
                "answer_id": f"{question_id}_{index}",
                "answer": text,
                "possibly_correct_id": f"{question_id}_{chosen}",
                "possibly_correct_answer": best,
            }


def _text(row: Mapping[str, Any], columns: tuple[str, ...], what: str) -> str:
    for column in columns:
        value = row.get(column)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            raise RowError("expected text (an id as a number would lose what makes it an id)", column)
    raise RowError(f"{what} is missing (column {' or '.join(columns)})", columns[0])


def _optional(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column) or ""
    if not isinstance(value, str):
        raise RowError("expected text", column)
    return value.strip()


def _one_line(text: str, column: str) -> str:
    """Return a text as the published files hold it: no tab, no line break."""
    if len(text) > MAX_CHARACTERS:
        raise RowError(f"more than {MAX_CHARACTERS:,} characters", column)
    return " ".join(text.split())
