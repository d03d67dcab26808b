"""The ANTIQUE task type: how relevant is an answer to a question, on four levels."""

import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from annotation.tasktypes.antique import answers
from annotation.tasktypes.antique.items import item_from_row, rows_of, shared_texts
from annotation.tasktypes.base import Answer, AnswerError, Draft, Example, NewItem, Shown, Summary
from annotation.tasktypes.columns import Column, Filled, Kind, of_key
from annotation.tasktypes.labels import Labels
from documents.html.tokens import Tokenization

_HERE = Path(__file__).parent


def _examples(name: str) -> tuple[Example, ...]:
    return tuple(json.loads((_HERE / name).read_text(encoding="utf-8")))


class Antique(Labels):
    """One question, one candidate answer, one of four labels, with the possibly correct answer beside it."""

    key: ClassVar[str] = "antique"
    title: ClassVar[str] = "ANTIQUE (relevance of answers)"
    answer_version: ClassVar[int] = 1
    needs_document: ClassVar[bool] = False
    keeps_together: ClassVar[str] = "question"
    default_splits: ClassVar[str] = "train 3 9\ntest 3 1"  # three judge each pair (section 3.1 of the paper)
    usual_seconds: ClassVar[int] = 30  # a guess: the paper has no time
    stages: ClassVar[tuple[str, ...]] = (answers.STAGE,)
    default_guidelines: ClassVar[str] = (_HERE / "guidelines.md").read_text(encoding="utf-8")
    examples: ClassVar[tuple[Example, ...]] = _examples("examples.json")
    training: ClassVar[tuple[Example, ...]] = _examples("training.json")
    labels: ClassVar[tuple[int, ...]] = answers.LABELS
    is_ordinal: ClassVar[bool] = True
    item_columns: ClassVar[tuple[Filled, ...]] = (
        of_key("question_id", Kind.TEXT, "Of the question; its candidate answers share it."),
        of_key("question_text", Kind.TEXT, "The question.", is_source=True),
        of_key("answer_id", Kind.TEXT, "Of the candidate answer: text, never a number."),
        of_key("answer_text", Kind.TEXT, "The candidate answer that was judged.", is_source=True),
        of_key("possibly_correct_id", Kind.TEXT, "Of the asker's own choice; empty if there is none."),
        of_key(
            "possibly_correct_answer",
            Kind.TEXT,
            "The asker's own choice, which annotators saw beside the candidate.",
            is_source=True,
        ),
        of_key("category", Kind.TEXT, "Of the question, as its source gave it."),
    )

    @property
    def answer_columns(self) -> tuple[Filled, ...]:
        """Return the columns of an answer: its label and the steps that led to it."""
        way = Column(
            "way",
            Kind.TEXT,
            "The answers given down the flowchart, y or n each; empty if the label was chosen directly.",
        )
        return (*super().answer_columns, Filled(way, lambda answer: answer["way"]))

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the pairs of an nfL6 record; any other row is itself a pair."""
        return rows_of(record)

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the pair of an import row."""
        return item_from_row(row)

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return the id of the question, which all its candidates share."""
        return str(content["question_id"])

    def shared_texts(self, content: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
        """Return the question, the candidate and the asker's answer, by their ids."""
        return shared_texts(content)

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields unchanged."""
        return dict(fields)

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: choosing a label also confirms it."""
        return {}

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the only stage until it is answered."""
        return None if draft.get("done") else answers.STAGE

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with the label."""
        if stage != answers.STAGE:
            raise AnswerError("stage_unknown", "stage")
        return answers.label_sent(draft, sent)

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft with its label reopened."""
        return {**draft, "done": []}

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        """Return the finished answer."""
        return answers.finished_answer(draft)

    def vote_key(self, answer: Answer) -> int:
        """Return the label."""
        return int(answer["label"])

    def known_label(self, content: Mapping[str, Any]) -> tuple[Hashable, int] | None:
        """Return the asker's own choice: the paper assumes that it has the best label."""
        best = content.get("possibly_correct_id", "")
        return ((content["question_id"], best), answers.LABELS[0]) if best else None

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return the label, and by which steps it was reached."""
        return Summary([("label", str(answer["label"])), ("way", " ".join(answer["way"]) or "direct")])

    def path(self, answer: Answer) -> str:
        """Return the label: there is one step."""
        return f"label_{answer['label']}"

    def redact(self, answer: Answer) -> Answer:
        """Return the answer unchanged: it holds no free text."""
        return answer
