"""The task type of NLPCC's knowledge-base question answering: a question is written for a triple (NLPCC 2017, section 2)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from annotation.tasktypes.base import NewItem, Remark, Shown
from annotation.tasktypes.columns import Filled, Kind, of_key
from annotation.tasktypes.kbqa.items import SEVERAL, item_from_row
from annotation.tasktypes.writing import checks
from annotation.tasktypes.writing.task import Writing


class KnowledgeBase(Writing):
    """One triple, one question whose answer is its object."""

    key: ClassVar[str] = "kbqa"
    title: ClassVar[str] = "NLPCC KBQA (questions for triples)"
    usual_seconds: ClassVar[int] = 45
    default_guidelines: ClassVar[str] = (Path(__file__).parent / "guidelines.md").read_text(encoding="utf-8")
    item_columns: ClassVar[tuple[Filled, ...]] = (
        of_key("subject", Kind.TEXT, "Of the triple.", is_source=True),
        of_key("predicate", Kind.TEXT, "Of the triple.", is_source=True),
        of_key("object", Kind.TEXT, "Of the triple: what a question about it asks for.", is_source=True),
    )

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the triple of an import row."""
        return item_from_row(row)

    def picked(self, sent: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
        """Return nothing: the triple is given."""
        return {}

    def answers_to(self, content: Mapping[str, Any], picked: Mapping[str, Any]) -> tuple[str, int]:
        """Return the object."""
        return content["object"], content["facts"].index([content["predicate"], content["object"]])

    def choices(self, content: Mapping[str, Any]) -> Sequence[str]:
        """Return the objects of all facts about the subject."""
        return [fact[1] for fact in content["facts"]]

    def checks(self, text: str, picked: Mapping[str, Any], shown: Shown) -> Iterator[Remark]:
        """Yield remarks on a question about the triple."""
        content = shown.content
        return chain(
            checks.of_question(text, shown.is_written),
            checks.holds_answer(text, content["object"].split(SEVERAL)),
            checks.names_subject(text, [content["subject"], *content["aliases"]]),
        )
