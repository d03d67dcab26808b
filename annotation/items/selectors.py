"""Reading items and the answers to them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, TextField, When
from django.db.models.functions import Cast
from django.utils.safestring import mark_safe

from annotation.campaigns.selectors.sealing import unsealed
from annotation.models import (
    ORDINARY,
    Annotation,
    AnnotationState,
    BatchState,
    Campaign,
    Item,
    ItemState,
    Purpose,
    Slot,
    SlotState,
    Split,
)
from annotation.slots.ordering import seeded
from annotation.tasktypes.base import Summary
from annotation.tasktypes.registry import answer_summary, pages_of
from documents.html.tokens import Tokenization
from documents.selectors import page_display, tokenization_of

PILOT_SIZE = 200
COLOURS = 8  # of annotators, in ``annotate.css``
_UNFINISHED = [SlotState.OPEN, SlotState.ASIDE, SlotState.HELD]


@dataclass(frozen=True, slots=True)
class CountedItem:
    """An item with the number of filled slots, all slots, counted annotations, and those with the modal answer."""

    item: Item
    done: int
    asked: int
    counted: int
    alike: int


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An annotation for a manager to read, with a letter (A, B, C …) instead of the annotator's name."""

    letter: str
    annotation: Annotation
    summary: Summary
    key: str

    @property
    def colour(self) -> int:
        """One of the eight colors of annotators, from 1 on."""
        return 1 + (ord(self.letter[0]) - ord("A")) % COLOURS


@dataclass(frozen=True, slots=True)
class Cell:
    """One annotator's value for one part of an answer, and whether it differs from the value of most counted ones."""

    text: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers to one item as a table: one row per annotator, one column per part of an answer."""

    columns: list[str]
    rows: list[tuple[ShownAnswer, list[Cell]]]


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """A filter of items; empty fields match all items. ``state`` is an item state, ``unfinished`` or ``reported``."""

    split: str = ""
    state: str = ""
    text: str = ""
    batch: int | None = None
    round: int | None = None
    # Answered: by this person, on this day (UTC), under this version of the guidelines; all of one answer.
    person: UUID | None = None
    day: date | None = None
    guideline: int | None = None
    differs: bool = False  # two annotations that count say different things

    def of(self, items: QuerySet[Item]) -> QuerySet[Item]:
        """Return the items that match the filter."""
        if self.split:
            items = items.filter(split__name=self.split)
        if self.state == "reported":
            items = items.filter(reports__resolved_at=None, reports__isnull=False).distinct()
        elif self.state == "unfinished":
            items = items.filter(
                Exists(Slot.objects.filter(item=OuterRef("pk"), state__in=_UNFINISHED)),
                state="active",
                batch__purpose__in=ORDINARY,
            )
        elif self.state in ("active", "retired"):
            items = items.filter(state=self.state)
        if self.text:
            items = items.filter(content__question_text__icontains=self.text)
        if self.batch is not None:
            items = items.filter(batch__ordinal=self.batch)
        if self.round is not None:
            items = items.filter(Exists(Slot.objects.filter(item=OuterRef("pk"), round=self.round)))
        if self.differs:
            items = items.filter(Exists(_unlike_others()))
        answered = self._answered()
        return items.filter(Exists(Annotation.objects.filter(answered, item=OuterRef("pk")))) if answered else items

    def _answered(self) -> Q:
        wanted = Q()
        if self.person is not None:
            wanted &= Q(surrogate_id=self.person)
        if self.day is not None:
            begin, end = (datetime.combine(self.day, at, UTC) for at in (time.min, time.max))
            wanted &= Q(submitted_at__range=(begin, end))
        if self.guideline is not None:
            wanted &= Q(guideline__version=self.guideline)
        return wanted


def _unlike_others() -> QuerySet[Annotation]:
    """Return the counted annotations of an outer item whose answer differs from another counted one."""
    counted = Annotation.objects.filter(unsealed(), state=AnnotationState.COUNTED)
    others = counted.filter(item=OuterRef("item")).exclude(answer=OuterRef("answer"))
    return counted.filter(Exists(others), item=OuterRef("pk"))


def items_wanted(*, campaign: Campaign, wanted: ItemFilter, shows_gold: bool) -> QuerySet[Item]:
    """Return the items that match a filter. Only people who see all answers get gold items."""
    items = Item.objects.filter(campaign=campaign).select_related("split", "batch")
    if not shows_gold:
        items = items.exclude(batch__purpose=Purpose.GOLD)
    return wanted.of(items)


def items_counted(items: Sequence[Item]) -> list[CountedItem]:
    """Return items with their counts, in one statement. Items of sealed splits have no counts of answers."""
    slots = Slot.objects.filter(item__in=items).exclude(state=SlotState.CLOSED).order_by()
    said = Case(
        When(unsealed(), annotations__state=AnnotationState.COUNTED, then=Cast("annotations__answer", TextField()))
    )
    rows = slots.values("item", "pk", "state").annotate(said=said).values_list("item", "pk", "state", "said")
    asked: dict[int, dict[int, str]] = defaultdict(dict)
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    for item, slot, state, answer in rows:
        asked[item][slot] = state
        if answer is not None:
            answers[item][answer] += 1
    return [_counted(item, asked.get(item.pk), answers[item.pk]) for item in items]


def _counted(item: Item, slots: Mapping[int, str] | None, answers: Counter[str]) -> CountedItem:
    said = (answers.total(), max(answers.values(), default=0))
    if slots is None:  # not launched
        return CountedItem(item, 0, item.n, *said)
    return CountedItem(item, sum(state == SlotState.FILLED for state in slots.values()), len(slots), *said)


def items_drawn(*, split: Split, sample: int, seed: int) -> list[int]:
    """Return the keys of a seeded sample of a split's launched items; a larger one with the same seed begins with them.

    It reads the names of all items of the split, so call it in jobs only.
    """
    launched = Item.objects.filter(
        split=split, state=ItemState.ACTIVE, batch__state=BatchState.OPEN, batch__purpose__in=ORDINARY
    )
    names = launched.values_list("pk", "external_id")
    return [pk for pk, _ in sorted(names, key=lambda row: (seeded(seed, "extend", row[1]), row[0]))[:sample]]


def answers_side_by_side(item: Item, letters: Mapping[UUID, int] | None = None) -> list[ShownAnswer]:
    """Return the annotations of an item in the order of their slots, counted ones first.

    ``letters`` gives annotators the same letter across several items.
    """
    page = tokenization_of(item.tokenization)
    counted_first = Case(When(state=AnnotationState.COUNTED, then=0), default=1)
    rows = item.annotations.select_related("slot", "guideline", "campaign").order_by(
        counted_first, "slot__round", "slot__index", "pk"
    )
    numbers = dict(letters or {})
    shown = [_shown(numbers.setdefault(row.surrogate_id, len(numbers)), row, page) for row in rows[:200]]
    return sorted(shown, key=lambda answer: numbers[answer.annotation.surrogate_id]) if letters else shown


def comparison_of(answers: Sequence[ShownAnswer]) -> Comparison:
    """Return answers as a table with minority values marked; if no value has a majority, all are marked."""
    said = [dict(answer.summary.lines) for answer in answers]
    columns = list(dict.fromkeys(label for lines in said for label in lines))
    counted = [lines for answer, lines in zip(answers, said, strict=True) if answer.annotation.state == "counted"]
    usual = {column: _usual([lines.get(column, "") for lines in counted]) for column in columns}
    rows = [
        (answer, [Cell(lines.get(column, ""), lines.get(column, "") != usual[column]) for column in columns])
        for answer, lines in zip(answers, said, strict=True)
    ]
    return Comparison(columns, rows)


def _usual(values: Sequence[str]) -> str | None:
    """Return the value that more than half have."""
    found = Counter(values).most_common(1)
    return found[0][0] if found and 2 * found[0][1] > len(values) else None


def answer_shown(annotation: Annotation) -> ShownAnswer:
    """Return one annotation, with its item and campaign, for a manager to read."""
    return _shown(0, annotation, tokenization_of(annotation.item.tokenization))


def document_marked(item: Item, answers: Sequence[ShownAnswer]) -> dict[str, Any]:
    """Return an item's document and the marks of the counted answers, for ``_document_marked.html``."""
    assert item.tokenization is not None  # items without a document have nothing to mark
    pages, marks, boxes = pages_of(item.campaign.task_type), [], {}
    for answer in answers:
        if answer.annotation.state != AnnotationState.COUNTED:
            continue
        mark = pages.marks(item, answer.annotation.answer)
        if mark is not None:
            boxes[mark["box"]] = mark.pop("words")
            marks.append({"key": str(answer.annotation.pk), "letter": answer.letter, "colour": answer.colour, **mark})
    page = mark_safe(page_display(item.tokenization.sha256))  # noqa: S308  sanitized at import
    return {"page": page, "marks": marks, "boxes": boxes}


def _shown(number: int, annotation: Annotation, page: Tokenization | None) -> ShownAnswer:
    summary = answer_summary(annotation.campaign.task_type, annotation.answer, page)
    letter = chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")
    return ShownAnswer(letter, annotation, summary, str(summary.lines))


def pilot_items(campaign: Campaign) -> dict[str, Any]:
    """Return pilot items with two or more answers, differing ones first; each person keeps one letter throughout."""
    items = (
        Item.objects.filter(campaign=campaign, batch__purpose=Purpose.PILOT)
        .select_related("tokenization", "split")
        .order_by("pk")
    )
    own = Annotation.objects.filter(
        campaign=campaign, item__batch__purpose=Purpose.PILOT, state=AnnotationState.COUNTED
    )
    people = own.order_by("surrogate_id").values_list("surrogate_id", flat=True).distinct()[:PILOT_SIZE]
    letters = {surrogate_id: number for number, surrogate_id in enumerate(people)}
    rows: list[tuple[Item, Comparison]] = []
    agreeing = waiting = 0
    for item in items[:PILOT_SIZE]:
        shown = answers_side_by_side(item, letters)
        answers = [answer for answer in shown if answer.annotation.state == AnnotationState.COUNTED]
        if len(answers) < 2:
            waiting += 1
        elif len({answer.key for answer in answers}) == 1:
            agreeing += 1
        else:
            rows.append((item, comparison_of(answers)))
    return {"differing": rows, "agreeing": agreeing, "waiting": waiting}
