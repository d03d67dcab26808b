"""The protocol of task types: everything that differs between kinds of items.

A task type is a folder beside this file and one line in `annotation.tasktypes.registry`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from annotation.tasktypes.columns import Filled
from documents.html.tokens import Tokenization
from web.errors import KeyedError

Draft = dict[str, Any]
Answer = dict[str, Any]
Example = dict[str, Any]  # an item with its answer and the reason why, for people to learn from
Accepted = list[Any]  # the answers that a gold key accepts, as its task type writes them
Part = dict[str, Any]  # one thing that experts judge about an item; ``key`` tells it from the others
Said = dict[str, Any]  # what an expert chose for each part, by its key
Offsets = tuple[int, int, int, int]  # of a span: start and end byte, start and end token; -1 where not known


class AnswerError(KeyedError):
    """The submitted values are not a valid answer; the key says why, ``field`` where."""

    def __init__(self, key: str, field: str = "", **data: Any) -> None:
        super().__init__(key, **data)
        self.field = field


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item as a row of an import describes it.

    ``identity`` is equal for the same item in all splits; ``question`` is equal for items of one
    question, where it differs from the identity; ``document`` is the name of a document of
    the campaign, where the task type needs one; ``origin`` says where the item comes from, as JSON.
    """

    external_id: str
    content: dict[str, Any]
    identity: str
    document: str | None = None
    published_id: str | None = None
    question: str | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A finished answer for a person to read: short labeled lines."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[int] = field(default_factory=list)


def _never(_key: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Shown:
    """The context of an answer: the item's content, its page (if any), and the campaign's options.

    ``is_written`` returns whether another annotator of this campaign wrote the text of a key (`Written.text_key`).
    """

    content: Mapping[str, Any]
    page: Tokenization | None = None
    options: Mapping[str, bool] = field(default_factory=dict)
    is_written: Callable[[str], bool] = _never


@dataclass(frozen=True, slots=True)
class Option:
    """Something that each campaign of a task type may choose."""

    key: str
    is_on: bool  # where nothing was chosen


def options_from(options: Iterable[Option], said: Mapping[str, Any]) -> dict[str, bool]:
    """Return the value of each option of a task type for a campaign, from the values that the campaign set."""
    return {option.key: bool(said.get(option.key, option.is_on)) for option in options}


@dataclass(frozen=True, slots=True)
class Remark:
    """A message about a text, shown while it is written; with ``refuses``, the text can't be submitted."""

    key: str
    refuses: bool


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up item for another annotator: its content, and what it asks about an answer."""

    asks: str
    content: dict[str, Any]


class Scale(StrEnum):
    """How two values of a measure are compared."""

    NOMINAL = "nominal"  # the same or not
    ORDINAL = "ordinal"  # steps of one scale
    SETS = "sets"  # by what two sets have in common


@dataclass(frozen=True, slots=True)
class Measure:
    """One property of an answer, for which the agreement of annotators is computed.

    ``of`` returns its value, or None if the answer has none; on `Scale.SETS` a set of things of the item.
    ``labels`` are all values in their order, the smallest first, on `Scale.ORDINAL`.
    """

    key: str
    scale: Scale
    of: Callable[[Answer], Any]
    labels: tuple[Any, ...] = ()


class TaskType(Protocol):
    """One kind of annotation: pure functions, apart from its templates."""

    key: ClassVar[str]
    title: ClassVar[str]
    answer_version: ClassVar[int]
    needs_document: ClassVar[bool]
    stages: ClassVar[tuple[str, ...]]
    default_guidelines: ClassVar[str]
    keeps_together: ClassVar[str]  # what stays in one split by default: "item", "question" or "document"
    default_splits: ClassVar[str]  # a line per split: name, annotations per item, share of the items
    usual_seconds: ClassVar[int]  # per annotation, for the first estimate of a campaign
    examples: ClassVar[tuple[Example, ...]]  # shown with the guidelines
    training: ClassVar[tuple[Example, ...]]  # asked, with feedback, before the first item
    item_columns: ClassVar[tuple[Filled, ...]]  # of what an item holds, in published tables

    @property
    def answer_columns(self) -> tuple[Filled, ...]:
        """Return the columns of an answer in published tables; free text only if it is the requested answer."""
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return the measures for which agreement is computed, the most informative first."""
        ...

    @property
    def grades(self) -> tuple[Any, ...]:
        """Return the grades that an expert can give to a part, best first."""
        ...

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the import rows of a source's record (usually the record itself), or raise `RowError`."""
        ...

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the item of an import row, or raise `RowError`."""
        ...

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return a key that is equal for items of one question; empty if each item has a question of its own."""
        ...

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the submitted fields, with texts from forms parsed; or raise `AnswerError`."""
        ...

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the marks that a draft can keep before they are confirmed, or raise `AnswerError`."""
        ...

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the current stage of an assignment with this draft; None if no stage is left."""
        ...

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with the answer to one stage added, or raise `AnswerError`."""
        ...

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft at the previous stage; frozen values are kept."""
        ...

    def answer(self, draft: Draft, shown: Shown) -> Answer:
        """Return the finished answer, every offset checked again, or raise `AnswerError`."""
        ...

    def summarise(self, answer: Answer, page: Tokenization | None) -> Summary:
        """Return a readable summary of the answer."""
        ...

    def path(self, answer: Answer) -> str:
        """Return the path through the stages that led to an answer, for the statistics."""
        ...

    def redact(self, answer: Answer) -> Answer:
        """Return the answer without anything typed freely."""
        ...

    def accepted_from(self, row: Mapping[str, Any], page: Tokenization | None) -> Accepted:
        """Return the accepted answers in the column ``accepted`` of a row of gold questions, or raise `RowError`."""
        ...

    def agreed_on(self, answers: Sequence[Answer]) -> Accepted | None:
        """Return a gold question's accepted answers that match all of these answers; None if the answers differ."""
        ...

    def missed(self, accepted: Accepted, answer: Answer) -> str:
        """Return the stage at which an answer fails a gold question; empty if it passes."""
        ...

    def parts(self, answers: Sequence[Answer]) -> list[Part]:
        """Return the parts of an item with these answers that experts judge; empty if there is nothing to judge."""
        ...

    def parts_of_key(self, accepted: Accepted) -> list[Part]:
        """Return the parts that an expert judges to confirm a gold question, without knowing that it is one."""
        ...

    def confirms(self, accepted: Accepted, said: Said) -> bool:
        """Return whether an expert's judgments of those parts confirm the gold question."""
        ...


@runtime_checkable
class Voted(Protocol):
    """Additional members of task types in which several people's answers are votes."""

    labels: ClassVar[tuple[Any, ...]]  # best first
    is_ordinal: ClassVar[bool]  # whether the labels are steps of one scale

    def vote_key(self, answer: Answer) -> Hashable:
        """Return a key that is equal for answers that vote for the same label."""
        ...

    def known_label(self, content: Mapping[str, Any]) -> tuple[Hashable, Any] | None:
        """Return (key, label) of a thing that an item names and whose label is known without a vote, if any."""
        ...


@runtime_checkable
class Judging(Protocol):
    """Additional members of task types in which people judge the answers of systems, without knowing which."""

    def judgment(self, label: Any) -> float:
        """Return the value of a label, between 0 (wrong) and 1 (right)."""
        ...


@runtime_checkable
class Extractive(Protocol):
    """Additional members of task types in which annotators find an answer on a page, or that there is none."""

    # By the kind of part that experts judge: what an answer found, or None; equal answers are equal here.
    finds: ClassVar[Mapping[str, Callable[[Answer], Hashable | None]]]
    good_grades: ClassVar[tuple[Any, ...]]  # with which a part counts as precise

    def predicted(self, long: Offsets | None, shorts: Sequence[Offsets], yes_no: str, page: Tokenization) -> Answer:
        """Return a system's prediction in the form of an annotator's answer, or raise `RowError`."""
        ...


@runtime_checkable
class Shared(Protocol):
    """Additional members of task types whose import rows can share texts by id."""

    def shared_texts(self, content: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
        """Return (column, kind, id, text) of each text with an id; within a kind, one id always has the same text."""
        ...


@runtime_checkable
class Written(Protocol):
    """Additional members of task types in which people write texts."""

    options: ClassVar[tuple[Option, ...]]  # what its campaigns may choose

    def text_key(self, answer: Answer) -> str:
        """Return a key that is equal for answers with the same written text; empty if an answer has no text."""
        ...

    def remarks(self, draft: Draft, shown: Shown) -> Sequence[Remark]:
        """Return the remarks about a draft's text, those that refuse it first."""
        ...


@runtime_checkable
class FollowedUp(Protocol):
    """Additional members of task types whose answers other people review, or check by answering blind."""

    reviewing: ClassVar[str]  # what a review asks (`FollowUp.asks`): no other answer refuses

    def follow_ups(self, content: Mapping[str, Any], answer: Answer, options: Mapping[str, bool]) -> Iterable[FollowUp]:
        """Return the follow-ups of an answer once it counts. People who received an item of its family aren't asked."""
        ...

    def refusal(self, content: Mapping[str, Any], answer: Answer) -> str | None:
        """Return why this answer to a follow-up stops the original answer from counting; None if it doesn't."""
        ...

    def outcome(self, content: Mapping[str, Any], answer: Answer) -> tuple[str, str]:
        """Return what a follow-up item asked about an answer, and the result (`Pages.outcome_names`)."""
        ...


class Pages:
    """The base, with defaults, of a task type's pages: the module ``pages`` beside its ``task`` has them as ``PAGES``.

    The templates lie in ``templates/annotation/<key>/``: ``_item.html`` shows an item for reading,
    ``_choices.html`` the labels of the training round, ``_examples.html`` worked examples, ``_keys.html``
    help on keyboard shortcuts, ``_intro.html`` a sentence that introduces the work.
    """

    key: ClassVar[str]
    script: ClassVar[str] = "annotation/work.js"  # the module that starts the desk
    # The names of the measures (`TaskType.measures`) and of the grades (`TaskType.grades`, with what they mean).
    measures: ClassVar[Mapping[str, Any]] = {}
    grades: ClassVar[tuple[tuple[Any, Any, Any], ...]] = ()
    summary_names: ClassVar[Mapping[str, Any]] = {}  # of the lines of a summary (`TaskType.summarise`)
    summary_values: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # by line: what its fixed values are called
    part_names: ClassVar[Mapping[str, Any]] = {}  # by what they are (``what`` of `Part`)
    part_template: ClassVar[str] = ""  # shows a part that experts judge, below the item; empty: the item says it all
    answer_template: ClassVar[str] = "annotation/_summary.html"  # shows an answer for reading, its summary at hand
    stage_names: ClassVar[Mapping[str, Any]] = {}  # of the stages (`TaskType.stages`)
    training_stage: ClassVar[str] = ""  # which stage the training round shows
    # The ends of the annotator's paths (`TaskType.path`) with their names, for the chart, and a note under it.
    paths: ClassVar[tuple[tuple[str, Any], ...]] = ()
    paths_note: ClassVar[Any] = ""

    def stage(self, assignment: Any) -> tuple[str, dict[str, Any]]:
        """Return the template and the context of the current stage of an `annotation.models.Assignment`."""
        raise NotImplementedError

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the context of ``_item.html`` and ``_choices.html`` for an item, an example or a sample."""
        raise NotImplementedError

    def part(self, item: Any, part: Part) -> dict[str, Any]:
        """Return ``shown`` of ``part_template`` for a part of an `annotation.models.Item`, including its ``name``."""
        return {"part": part, "name": ""}

    def answer(self, item: Any, answer: Answer) -> dict[str, Any]:
        """Return the context of ``answer_template`` for an answer to an item."""
        return {"answer": answer}

    def marks(self, item: Any, answer: Answer) -> dict[str, Any] | None:
        """Return the marks of an answer on the page of an item; None if it marks nothing.

        ``box`` is the index of a candidate, ``tokens`` its half-open range of tokens, ``spans`` ranges inside it.
        """
        return None

    # What campaigns may choose (`Written.options`): name and explanation of each; texts of remarks (`Written.remarks`).
    option_names: ClassVar[Mapping[str, tuple[Any, Any]]] = {}
    remark_texts: ClassVar[Mapping[str, Any]] = {}
    outcome_names: ClassVar[Mapping[tuple[str, str], Any]] = {}  # of `FollowedUp.outcome`, in the order of a table
    # The import of items in the words of the task type: what they are called, what a file holds, two rows of one.
    rows_name: ClassVar[Any] = ""
    rows_help: ClassVar[Any] = ""
    rows_sample: ClassVar[str] = ""
    posting: ClassVar[
        Mapping[str, Any]
    ] = {}  # what a form for a posting proposes, where it is not what it does by itself
    gold_help: ClassVar[Any] = ""  # what the column ``accepted`` of a gold question may hold
    gold_sample: ClassVar[str] = ""  # the same with the column ``accepted`` of a gold key

    @property
    def item_template(self) -> str:
        """The template that shows an item for reading."""
        return f"annotation/{self.key}/_item.html"

    @property
    def choices_template(self) -> str:
        """The template of the labels of the training round."""
        return f"annotation/{self.key}/_choices.html"

    @property
    def examples_template(self) -> str:
        """The template of worked examples."""
        return f"annotation/{self.key}/_examples.html"

    @property
    def keys_template(self) -> str:
        """The template of the help on keyboard shortcuts."""
        return f"annotation/{self.key}/_keys.html"

    @property
    def intro_template(self) -> str:
        """The template of the sentence that introduces the work."""
        return f"annotation/{self.key}/_intro.html"
