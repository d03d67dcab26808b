"""The correctness task type: whether an answer to a question is right, given reference answers."""

import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from annotation.tasktypes.base import Answer, AnswerError, Draft, Example, NewItem, Shown, Summary
from annotation.tasktypes.columns import Filled, Kind, of_key
from annotation.tasktypes.correctness.items import item_from_row
from annotation.tasktypes.labels import Labels
from documents.html.tokens import Tokenization

_HERE = Path(__file__).parent
STAGE = "correctness"
CORRECT, INCORRECT = "correct", "incorrect"


def _examples(name: str) -> tuple[Example, ...]:
    return tuple(json.loads((_HERE / name).read_text(encoding="utf-8")))


class Correctness(Labels):
    """One question, its references, one answer of an unnamed system, one of two labels."""

    key: ClassVar[str] = "correctness"
    title: ClassVar[str] = "Correctness of systems' answers"
    answer_version: ClassVar[int] = 1
    needs_document: ClassVar[bool] = False
    keeps_together: ClassVar[str] = "question"
    default_splits: ClassVar[str] = "judged 3 1"
    usual_seconds: ClassVar[int] = 15  # a guess
    stages: ClassVar[tuple[str, ...]] = (STAGE,)
    default_guidelines: ClassVar[str] = (_HERE / "guidelines.md").read_text(encoding="utf-8")
    examples: ClassVar[tuple[Example, ...]] = _examples("examples.json")
    training: ClassVar[tuple[Example, ...]] = _examples("training.json")
    labels: ClassVar[tuple[str, ...]] = (CORRECT, INCORRECT)
    is_ordinal: ClassVar[bool] = False
    item_columns: ClassVar[tuple[Filled, ...]] = (
        of_key("question_id", Kind.TEXT, "Of the question; all answers to it share the id."),
        of_key("question", Kind.TEXT, "The question.", is_source=True),
        of_key("references", Kind.JSON, "The reference answers that annotators saw.", is_source=True),
        of_key("answer", Kind.TEXT, "The answer that was judged.", is_source=True),
    )

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the record: each row is an item."""
        return (record,)

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the item of an import row."""
        return item_from_row(row)

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return the id of the question, which all answers to it share."""
        return str(content["question_id"])

    def shared_texts(self, content: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
        """Return the question with its references, by its id: all answers to it are judged by the same ones."""
        text = json.dumps([content["question"], content["references"]], ensure_ascii=False)
        yield "question", "question", content["question_id"], text

    def judgment(self, label: Any) -> float:
        """Return 1 for a correct answer and 0 for an incorrect one."""
        return float(label == CORRECT)

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields unchanged."""
        return dict(fields)

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: choosing a label also confirms it."""
        return {}

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the only stage until it is answered."""
        return None if draft.get("done") else STAGE

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with the label."""
        if stage != STAGE:
            raise AnswerError("stage_unknown", "stage")
        return {**draft, "done": [STAGE], "label": _label(sent.get("label"))}

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft with its label reopened."""
        return {**draft, "done": []}

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        """Return the finished answer."""
        if not draft.get("done"):
            raise AnswerError("correctness_unanswered", "label")
        return {"label": _label(draft.get("label"))}

    def vote_key(self, answer: Answer) -> str:
        """Return the label."""
        return str(answer["label"])

    def known_label(self, content: Mapping[str, Any]) -> tuple[Hashable, Any] | None:
        """Return nothing: people judge every answer."""
        return None

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return the label."""
        return Summary([("label", str(answer["label"]))])

    def path(self, answer: Answer) -> str:
        """Return the label: there is one step."""
        return str(answer["label"])

    def redact(self, answer: Answer) -> Answer:
        """Return the answer unchanged: it holds no free text."""
        return answer


def _label(value: Any) -> str:
    if value not in (CORRECT, INCORRECT):
        raise AnswerError("correctness_label", "label")
    return str(value)
