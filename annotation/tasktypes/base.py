"""What a task type is: everything that differs between kinds of items, behind one protocol.

A task type is a folder beside this file and one line in `annotation.tasktypes.registry`.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from documents.html.tokens import Tokenization

Draft = dict[str, Any]
Answer = dict[str, Any]
Example = dict[str, Any]  # an item with its answer and the reason why, for people to learn from


class AnswerError(ValueError):
    """What was sent cannot be an answer; the message says why, ``field`` where."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class RowError(ValueError):
    """A row of an import cannot be an item; the message says why, ``column`` where."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class NewItem:
    """What a row of an import says about an item.

    ``identity`` is what makes two items the same over all splits; ``question`` is what items of one
    question have in common, where that is not the identity; ``document`` is the name of a document of
    the campaign, where the task type needs one.
    """

    external_id: str
    content: dict[str, Any]
    identity: str
    document: str | None = None
    published_id: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A finished answer for a person to read: short labelled lines."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)


class TaskType(Protocol):
    """One kind of annotation, pure but for its templates."""

    key: ClassVar[str]
    title: ClassVar[str]
    answer_version: ClassVar[int]
    needs_document: ClassVar[bool]
    works_in_visits: ClassVar[bool]  # whether its pages do without an account: in a marketplace's frame, by a link
    stages: ClassVar[tuple[str, ...]]
    default_guidelines: ClassVar[str]
    keeps_together: ClassVar[str]  # what stays in one split by default: "item", "question" or "document"
    examples: ClassVar[tuple[Example, ...]]  # shown with the guidelines
    training: ClassVar[tuple[Example, ...]]  # asked, with feedback, before the first item

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the import rows that a record of a source holds (mostly itself), or raise `RowError`."""
        ...

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the item of an import row, or raise `RowError`."""
        ...

    def current_stage(self, draft: Draft) -> str | None:
        """Return the stage an assignment stands at; None when nothing is left to ask."""
        ...

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], page: Tokenization | None) -> Draft:
        """Return the draft with what was sent for a stage, or raise `AnswerError`."""
        ...

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft at the stage before; nothing that was frozen is lost."""
        ...

    def answer(self, draft: Draft, page: Tokenization | None) -> Answer:
        """Return the finished answer, every offset checked again, or raise `AnswerError`."""
        ...

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return the answer for a person to read."""
        ...

    def path(self, answer: Answer) -> str:
        """Return by which way through the stages an answer came about, for the statistics."""
        ...

    def redact(self, answer: Answer) -> Answer:
        """Return the answer without anything typed freely."""
        ...


@runtime_checkable
class Voted(Protocol):
    """What a task type has besides, where the answers of several people are put to the vote."""

    labels: ClassVar[tuple[Any, ...]]  # best first

    def vote_key(self, answer: Answer) -> Hashable:
        """Return what an answer votes for."""
        ...
