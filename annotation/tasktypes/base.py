"""What a task type is: everything that differs between kinds of items, behind one protocol.

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


class AnswerError(KeyedError):
    """What was sent cannot be an answer; the key says why, ``field`` where."""

    def __init__(self, key: str, field: str = "", **data: Any) -> None:
        super().__init__(key, **data)
        self.field = field


@dataclass(frozen=True, slots=True)
class NewItem:
    """What a row of an import says about an item.

    ``identity`` is what makes two items the same over all splits; ``question`` is what items of one
    question have in common, where that is not the identity; ``document`` is the name of a document of
    the campaign, where the task type needs one; ``origin`` is what the row says of where it comes from, as JSON.
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
    """What an answer is about: what its item holds, the page where there is one, and what the campaign has chosen.

    ``is_written`` says of the key of a text (`Written.text_key`) whether someone else wrote it in this campaign.
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
    """Return what holds for a campaign of the options of its task type, by what it said of them."""
    return {option.key: bool(said.get(option.key, option.is_on)) for option in options}


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person is told about a text while they write it; ``refuses`` where it cannot be submitted so."""

    key: str
    refuses: bool


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Something that is asked of another person about an answer: the content of an item, and what it asks."""

    asks: str
    content: dict[str, Any]


class Scale(StrEnum):
    """How two values of a measure are compared."""

    NOMINAL = "nominal"  # the same or not
    ORDINAL = "ordinal"  # steps of one scale
    SETS = "sets"  # by what two sets have in common


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that an answer says, over which the agreement of annotators is computed.

    ``of`` returns its value, or None where an answer says nothing of it; on `Scale.SETS` a set of things of the item.
    ``labels`` are all values in their order, the smallest first, on `Scale.ORDINAL`.
    """

    key: str
    scale: Scale
    of: Callable[[Answer], Any]
    labels: tuple[Any, ...] = ()


class TaskType(Protocol):
    """One kind of annotation, pure but for its templates."""

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
        """Return what published tables say of an answer; nothing that was typed freely, but the texts that are asked for."""
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What agreement is computed of, the most telling first."""
        ...

    @property
    def grades(self) -> tuple[Any, ...]:
        """What an expert may say of a part, best first."""
        ...

    def rows_of(self, record: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return the import rows that a record of a source holds (mostly itself), or raise `RowError`."""
        ...

    def item_from_row(self, row: Mapping[str, Any]) -> NewItem:
        """Return the item of an import row, or raise `RowError`."""
        ...

    def question_key(self, content: Mapping[str, Any]) -> str:
        """Return what items of one question have in common, or nothing where each item is a question of its own."""
        ...

    def sent_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return what was sent with its values parsed, where a form sent text; or raise `AnswerError`."""
        ...

    def suggestion_from(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a draft may hold of what is marked but not confirmed, or raise `AnswerError`."""
        ...

    def current_stage(self, draft: Draft, content: Mapping[str, Any]) -> str | None:
        """Return the stage an assignment of an item stands at; None when nothing is left to ask."""
        ...

    def advance(self, draft: Draft, stage: str, sent: Mapping[str, Any], shown: Shown) -> Draft:
        """Return the draft with what was sent for a stage, or raise `AnswerError`."""
        ...

    def step_back(self, draft: Draft) -> Draft:
        """Return the draft at the stage before; nothing that was frozen is lost."""
        ...

    def answer(self, draft: Draft, shown: Shown) -> Answer:
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

    def accepted_from(self, row: Mapping[str, Any], page: Tokenization | None) -> Accepted:
        """Return what the column ``accepted`` of a row of gold keys accepts, or raise `RowError`."""
        ...

    def agreed_on(self, answers: Sequence[Answer]) -> Accepted | None:
        """Return what a gold key accepts that all of these answers hit; None where they differ."""
        ...

    def missed(self, accepted: Accepted, answer: Answer) -> str:
        """Return the stage at which an answer misses a gold key; nothing where it hits."""
        ...

    def parts(self, answers: Sequence[Answer]) -> list[Part]:
        """Return what experts judge of an item with these answers; nothing where there is nothing to judge."""
        ...

    def parts_of_key(self, accepted: Accepted) -> list[Part]:
        """Return what an expert judges to confirm a gold key, without being told that it is one."""
        ...

    def confirms(self, accepted: Accepted, said: Said) -> bool:
        """Return whether what an expert said about those parts confirms the key."""
        ...


@runtime_checkable
class Voted(Protocol):
    """What a task type has besides, where the answers of several people are put to the vote."""

    labels: ClassVar[tuple[Any, ...]]  # best first
    is_ordinal: ClassVar[bool]  # whether the labels are steps of one scale

    def vote_key(self, answer: Answer) -> Hashable:
        """Return what an answer votes for."""
        ...

    def known_label(self, content: Mapping[str, Any]) -> tuple[Hashable, Any] | None:
        """Return (key, label) of something an item names whose label is known without a vote, if there is one."""
        ...


@runtime_checkable
class Extractive(Protocol):
    """What a task type has besides, where annotators find an answer on a page, or none."""

    # By the kind of part that experts judge: what an answer found, or None; equal answers are equal here.
    finds: ClassVar[Mapping[str, Callable[[Answer], Hashable | None]]]
    good_grades: ClassVar[tuple[Any, ...]]  # with which a part counts as precise


@runtime_checkable
class Shared(Protocol):
    """What a task type has besides, where rows give texts by ids that other rows give too."""

    def shared_texts(self, content: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
        """Return (column, kind, id, text) of each text that an item has by an id: among ids of a kind, one is one text."""
        ...


@runtime_checkable
class Written(Protocol):
    """What a task type has besides, where people write texts."""

    options: ClassVar[tuple[Option, ...]]  # what its campaigns may choose

    def text_key(self, answer: Answer) -> str:
        """Return what two answers have in common that write the same text; nothing where an answer writes none."""
        ...

    def remarks(self, draft: Draft, shown: Shown) -> Sequence[Remark]:
        """Return what there is to say of the text of a draft, refusals first."""
        ...


@runtime_checkable
class FollowedUp(Protocol):
    """What a task type has besides, where answers are put before other people: reviewed, or checked by answering."""

    reviewing: ClassVar[str]  # what a review asks (`FollowUp.asks`): no other answer refuses

    def follow_ups(self, content: Mapping[str, Any], answer: Answer, options: Mapping[str, bool]) -> Iterable[FollowUp]:
        """Return what is asked about an answer once it counts. Nobody who met what it is about is asked."""
        ...

    def refusal(self, content: Mapping[str, Any], answer: Answer) -> str | None:
        """Return why the answer that an item follows does not count by this answer; None where it may."""
        ...

    def outcome(self, content: Mapping[str, Any], answer: Answer) -> tuple[str, str]:
        """Return what an item asked about an answer, and what came of it (`Pages.outcome_names`)."""
        ...


class Pages:
    """The pages of a task type: a module ``pages`` beside its ``task`` holds them as ``PAGES``.

    A base with defaults. The templates lie in ``templates/annotation/<key>/``: ``_item.html`` shows an item for
    reading, ``_choices.html`` the labels of the training round, ``_examples.html`` worked examples, ``_keys.html``
    the keys, ``_intro.html`` a sentence.
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
        """Return the template and the context of the stage that an `annotation.models.Assignment` stands at."""
        raise NotImplementedError

    def item(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return what ``_item.html`` and ``_choices.html`` show of an item, an example or a sample."""
        raise NotImplementedError

    def part(self, item: Any, part: Part) -> dict[str, Any]:
        """Return what ``part_template`` shows, as ``shown``, of a part of an `annotation.models.Item`; with its ``name``."""
        return {"part": part, "name": ""}

    def answer(self, item: Any, answer: Answer) -> dict[str, Any]:
        """Return what ``answer_template`` shows of an answer to an item."""
        return {"answer": answer}

    def marks(self, item: Any, answer: Answer) -> dict[str, Any] | None:
        """Return what an answer marks on the page of an item; None where it marks nothing.

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
        """The template of the help on keys."""
        return f"annotation/{self.key}/_keys.html"

    @property
    def intro_template(self) -> str:
        """The template of the sentence that introduces the work."""
        return f"annotation/{self.key}/_intro.html"
