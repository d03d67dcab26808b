"""The items of a release, including those with a shortfall."""

from collections.abc import Iterator

import orjson
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from annotation.models import Item
from annotation.tasktypes.base import Written
from annotation.tasktypes.columns import Column, Kind
from annotation.tasktypes.registry import TASK_TYPES
from exports.formats.tables import Row, Table, chunks
from exports.models import Release
from exports.selectors.within import within

CHUNK = 2000
ITEM = Column(
    "item_id",
    Kind.TEXT,
    "Of the item, the same in every table and in the files of the format. Text: it may exceed 2^53.",
)
EXTERNAL = Column("external_id", Kind.TEXT, "Of the item, as it was imported.")
SPLIT = Column("split", Kind.TEXT, "train, dev, test, …")
_COLUMNS = (
    ITEM,
    EXTERNAL,
    SPLIT,
    Column("batch", Kind.INTEGER, "Items of a batch were handed out together."),
    Column("is_released", Kind.BOOLEAN, "False: it fell short, and the files of the format leave it out."),
    Column("wanted", Kind.INTEGER, "Annotations that were wanted of it in the first round."),
    Column(
        "votes", Kind.INTEGER, "How many of them, from rank 0 on, are the votes of a round where labels are voted on."
    ),
)
_ORIGIN = Column(
    "origin",
    Kind.JSON,
    "Where it comes from, as its row said when it was imported: step, file and row, and the runs that brought it into a pool.",
)
_DOCUMENT = (
    Column("document_sha256", Kind.TEXT, "Of its page: see the table documents."),
    Column("tokenizer", Kind.TEXT, "Whose tokens and boxes its annotations point into."),
)


def items_of(release: Release) -> list[int]:
    """Return the keys of items in a release's tables, in import order: released items and items with a shortfall.

    Parts of the result are ranges of keys, which databases read faster than lists of keys.
    """
    frozen = Q(within(release.votes.all(), of="pk")) | Q(within(release.shortfall.all(), of="pk"))
    if isinstance(TASK_TYPES[release.campaign.task_type], Written):
        frozen &= ~Q(split__name__in=release.sealed)  # what an item holds tells the question that was written for it
    elif release.sealed:  # whose votes are not frozen
        frozen |= Q(within(release.members.all(), of="pk")) | Q(within(release.verdicts.all(), of="pk"))
    return list(Item.objects.filter(frozen).order_by("pk").values_list("pk", flat=True))


def items_table(release: Release, order: list[int]) -> Table:
    """Return the table of items."""
    task_type = TASK_TYPES[release.campaign.task_type]
    columns = (*_COLUMNS, *(_DOCUMENT if task_type.needs_document else ()), _ORIGIN)
    filled = [one for one in task_type.item_columns if not (release.labels_only and one.is_source)]

    def rows() -> Iterator[Row]:
        short = set(release.shortfall.values_list("item_id", flat=True))
        names = ["pk", "published_id", "external_id", "split__name", "batch__ordinal", "n", "votes", "origin", "text"]
        if task_type.needs_document:
            names += ["tokenization__document__sha256", "tokenization__source", "tokenization__version"]
        texts = Item.objects.annotate(text=Cast("content", TextField()))
        for chunk in chunks(order, CHUNK):
            found = {row[0]: row[1:] for row in texts.filter(pk__range=(chunk[0], chunk[-1])).values_list(*names)}
            for pk in chunk:
                published, external, split, batch, n, votes, origin, text, *page = found[pk]
                content = orjson.loads(text)
                tokenizer = [page[0], f"{page[1]}/{page[2]}"] if page else []
                yield (
                    published,
                    external,
                    split,
                    batch,
                    pk not in short,
                    n,
                    votes,
                    *tokenizer,
                    origin or None,
                    *(column.of(content) for column in filled),
                )

    meaning = "One row an item."
    return Table("items", meaning, (*columns, *(one.column for one in filled)), rows)
