"""The toy task type of docs/how-to/add-a-task-type.md: choose one of three colors, and say why."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, ClassVar

from annotation.tasktypes.base import Answer, AnswerError, Draft, Example, NewItem, Shown, Summary
from annotation.tasktypes.columns import Filled, Kind, of_key
from annotation.tasktypes.labels import Labels
from documents.html.tokens import Tokenization
from storage.tables.faults import RowError

LABELS = ("red", "green", "blue")


class Choice(Labels):
    """One text, one color, one comment."""

    key: ClassVar[str] = "choice"
    title: ClassVar[str] = "Choice of a colour"
    answer_version: ClassVar[int] = 1
    needs_document: ClassVar[bool] = False
    keeps_together: ClassVar[str] = "item"
    default_splits: ClassVar[str] = "train 3 1"
    usual_seconds: ClassVar[int] = 5
    stages: ClassVar[tuple[str, ...]] = ("choice",)
    default_guidelines: ClassVar[str] = "Choose the colour that the text makes you think of."
    examples: ClassVar[tuple[Example, ...]] = ()
    training: ClassVar[tuple[Example, ...]] = ()
    labels: ClassVar[tuple[str, ...]] = LABELS
    is_ordinal: ClassVar[bool] = False
    item_columns: ClassVar[tuple[Filled, ...]] = (of_key("text", Kind.TEXT, "What was shown.", is_source=True),)

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        return (record,)

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        text = row.get("text")
        if not isinstance(text, str) or not text.strip():
            raise RowError("the text is missing", "text")
        return NewItem(str(row.get("id", text)), {"text": text}, identity=text)

    def question_key(self, content: Mapping[str, Any]) -> str:
        return ""

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return dict(fields)

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {"comment": str(fields.get("comment", ""))[:500]}

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        return None if draft.get("done") else "choice"

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        if stage != "choice":
            raise AnswerError("said", "stage", said="there is no such stage")
        if sent.get("label") not in LABELS:
            raise AnswerError("said", "label", said="choose red, green or blue")
        return {**draft, "done": True, "label": sent["label"], "comment": str(sent.get("comment", ""))[:500]}

    def step_back(self, draft: Draft) -> Draft:
        return {**draft, "done": False}

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        if not draft.get("done"):
            raise AnswerError("said", "label", said="no colour was chosen yet")
        return {"label": draft["label"], "comment": draft["comment"]}

    def vote_key(self, answer: Answer) -> str:
        return str(answer["label"])

    def known_label(self, content: Mapping[str, Any]) -> tuple[Hashable, Any] | None:
        return None

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        return Summary([("colour", answer["label"]), ("comment", answer["comment"])])

    def path(self, answer: Answer) -> str:
        return str(answer["label"])

    def redact(self, answer: Answer) -> Answer:
        return {**answer, "comment": ""}
