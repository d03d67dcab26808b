"""Reading items and the answers to them."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, When

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
from annotation.ordering import seeded
from annotation.tasktypes.base import Summary
from annotation.tasktypes.registry import TASK_TYPES
from documents.html.tokens import Tokenization
from documents.selectors import tokenization_of

PAGE_SIZE = 50
PILOT_SIZE = 200
_UNFINISHED = [SlotState.OPEN, SlotState.ASIDE, SlotState.HELD]


@dataclass(frozen=True, slots=True)
class ItemsPage:
    """Some items in order of their key, each with how many annotations of how many it has, and the key to go on after."""

    items: list[tuple[Item, int, int]]
    after: int | None


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An annotation for a manager to read: A, B, C … instead of a name."""

    letter: str
    annotation: Annotation
    summary: Summary
    key: str


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items are wanted; what is empty wants all. ``state`` is an item state, ``unfinished`` or ``reported``."""

    split: str = ""
    state: str = ""
    text: str = ""
    batch: int | None = None
    round: int | None = None
    # Answered: by this person, on this day (UTC), under this version of the guidelines; all of one answer.
    person: UUID | None = None
    day: date | None = None
    guideline: int | None = None

    def of(self, items: QuerySet[Item]) -> QuerySet[Item]:
        """Return the items that are wanted."""
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


def items_page(*, campaign: Campaign, wanted: ItemFilter, after: int, shows_gold: bool) -> ItemsPage:
    """Return a page of items after a key. Gold is for those alone who see all answers."""
    items = Item.objects.filter(campaign=campaign, pk__gt=after).select_related("split", "batch")
    if not shows_gold:
        items = items.exclude(batch__purpose=Purpose.GOLD)
    rows = list(wanted.of(items).order_by("pk")[: PAGE_SIZE + 1])
    shown = rows[:PAGE_SIZE]
    counted = Slot.objects.filter(item__in=shown).exclude(state=SlotState.CLOSED).values_list("item").order_by()
    done = {
        item: (filled, asked)
        for item, filled, asked in counted.annotate(
            filled=Count("pk", filter=Q(state=SlotState.FILLED)), asked=Count("pk")
        )
    }
    counts = [(item, *done.get(item.pk, (0, item.n))) for item in shown]
    return ItemsPage(counts, rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None)


def items_drawn(*, split: Split, sample: int, seed: int) -> list[int]:
    """Return the keys of a seeded sample of a split's launched items; a larger one with the same seed begins with them.

    Reads the names of all items of the split: for jobs.
    """
    launched = Item.objects.filter(
        split=split, state=ItemState.ACTIVE, batch__state=BatchState.OPEN, batch__purpose__in=ORDINARY
    )
    names = launched.values_list("pk", "external_id")
    return [pk for pk, _ in sorted(names, key=lambda row: (seeded(seed, "extend", row[1]), row[0]))[:sample]]


def answers_side_by_side(item: Item) -> list[ShownAnswer]:
    """Return the annotations of an item in the order of their slots, then what is not counted."""
    page = tokenization_of(item.tokenization)
    counted_first = Case(When(state=AnnotationState.COUNTED, then=0), default=1)
    rows = item.annotations.select_related("slot", "guideline", "campaign").order_by(
        counted_first, "slot__round", "slot__index", "pk"
    )
    return [_shown(number, annotation, page) for number, annotation in enumerate(rows[:200])]


def answer_shown(annotation: Annotation) -> ShownAnswer:
    """Return one annotation, with its item and campaign, for a manager to read."""
    return _shown(0, annotation, tokenization_of(annotation.item.tokenization))


def _shown(number: int, annotation: Annotation, page: Tokenization | None) -> ShownAnswer:
    summary = TASK_TYPES[annotation.campaign.task_type].summarise(annotation.answer, page)
    letter = chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")
    return ShownAnswer(letter, annotation, summary, str(summary.lines))


def pilot_items(campaign: Campaign) -> dict[str, Any]:
    """Return pilot items with at least two answers, those that differ first."""
    items = Item.objects.filter(campaign=campaign, batch__purpose=Purpose.PILOT).select_related("tokenization", "split").order_by("pk")  # fmt: skip
    rows: list[tuple[Item, list[ShownAnswer]]] = []
    waiting = 0
    for item in items[:PILOT_SIZE]:
        answers = [
            answer for answer in answers_side_by_side(item) if answer.annotation.state == AnnotationState.COUNTED
        ]
        if len(answers) >= 2:
            rows.append((item, answers))
        else:
            waiting += 1
    differing = [row for row in rows if len({answer.key for answer in row[1]}) > 1]
    return {"differing": differing, "agreeing": len(rows) - len(differing), "waiting": waiting}
