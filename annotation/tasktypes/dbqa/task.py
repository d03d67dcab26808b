"""The task type of NLPCC's document-based question answering: choose a sentence, then ask for it (NLPCC 2017, section 3)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from annotation.tasktypes.base import NewItem, Remark, Shown
from annotation.tasktypes.columns import Column, Filled, Kind, of_key
from annotation.tasktypes.dbqa.items import item_from_row
from annotation.tasktypes.writing import checks
from annotation.tasktypes.writing.task import RECOVER, REVIEW, WRITE, Writing, sentence_index

PICK = "pick"


class DocumentBased(Writing):
    """One document, one of its sentences, one question that it answers."""

    key: ClassVar[str] = "dbqa"
    title: ClassVar[str] = "NLPCC DBQA (questions for sentences)"
    writing: ClassVar[tuple[str, ...]] = (PICK, WRITE)
    stages: ClassVar[tuple[str, ...]] = (PICK, WRITE, REVIEW, RECOVER)
    usual_seconds: ClassVar[int] = 75
    default_guidelines: ClassVar[str] = (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")
    item_columns: ClassVar[tuple[Filled, ...]] = (
        of_key("title", Kind.TEXT, "Of the document.", is_source=True),
        Filled(
            Column("sentences", Kind.INTEGER, "How many sentences the document has."),
            lambda content: len(content["sentences"]),
        ),
    )

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the document of an import row."""
        return item_from_row(row)

    def picked(self, sent: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the index of the chosen sentence."""
        return {"sentence": sentence_index(sent.get("sentence"), content["sentences"])}

    def answers_to(self, content: Mapping[str, Any], picked: Mapping[str, Any]) -> tuple[str, int]:
        """Return the chosen sentence."""
        return content["sentences"][picked["sentence"]], picked["sentence"]

    def choices(self, content: Mapping[str, Any]) -> Sequence[str]:
        """Return the sentences of the document."""
        return list(content["sentences"])

    def checks(self, text: str, picked: Mapping[str, Any], shown: Shown) -> Iterator[Remark]:
        """Yield remarks on a question about the chosen sentence."""
        sentence = shown.content["sentences"][picked["sentence"]]
        return chain(checks.of_question(text, shown.is_written), checks.copies(text, sentence))

    @property
    def answer_columns(self) -> tuple[Filled, ...]:
        """Return the columns of all written answers, and the sentence."""
        place = Column("sentence", Kind.INTEGER, "The place of the chosen sentence in the document, from 0.")
        return (*super().answer_columns, Filled(place, lambda answer: answer.get("sentence", answer.get("choice"))))
