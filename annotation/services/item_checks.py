"""Rows of an import, checked before the first item is written."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.models import Campaign, CampaignDocument, Item
from annotation.rows import Row
from annotation.tasktypes.base import NewItem, RowError, TaskType

CHUNK = 500


class Page(NamedTuple):
    """A document as rows find it: the tokenization to pin, and the content address."""

    tokenization_id: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A row that can become an item."""

    row: int
    new: NewItem
    page: Page | None


def checked_rows(
    campaign: Campaign, task_type: TaskType, rows: Iterable[Row]
) -> Iterator[list[tuple[int, Checked | RowError | None]]]:
    """Yield chunks of (row number, what it is): a new item, what is wrong with it, or None if it is there already."""
    seen: dict[str, int] = {}
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        parsed = [(number, new) for number, row in chunk for new in _parsed(task_type, row)]
        known = _Known(campaign, [new for _, new in parsed if isinstance(new, NewItem)])
        yield [
            (number, new if isinstance(new, RowError) else _judged(number, new, known, seen, task_type))
            for number, new in parsed
        ]


def identity_sha256(new: NewItem) -> str:
    """Return what makes an item the same question as another."""
    return hashlib.sha256(new.identity.encode()).hexdigest()


class _Known:
    """What the campaign already has of the things a chunk of rows names."""

    def __init__(self, campaign: Campaign, items: list[NewItem]) -> None:
        here = Item.objects.filter(campaign=campaign)
        named = here.filter(external_id__in=[new.external_id for new in items])
        self.identity_of = dict(named.values_list("external_id", "content_sha256"))
        same = here.filter(content_sha256__in=[identity_sha256(new) for new in items])
        self.item_with = dict(same.values_list("content_sha256", "external_id"))
        published = here.filter(published_id__in=[new.published_id for new in items if new.published_id])
        self.item_published = dict(published.values_list("published_id", "external_id"))
        self.pages = _pages_named(campaign, {new.document for new in items if new.document})


def _pages_named(campaign: Campaign, names: set[str]) -> dict[str, Page]:
    """Return pages by what rows call them: the name they were imported under first, then address or title."""
    rows = CampaignDocument.objects.filter(
        Q(name__in=names) | Q(tokenization__document__url__in=names) | Q(tokenization__document__title__in=names),
        campaign=campaign,
    ).select_related("tokenization__document")
    found: dict[str, Page] = {}
    for row in rows.order_by("pk"):
        document = row.tokenization.document
        page = Page(row.tokenization_id, document.sha256)
        for label in (document.title, document.url):
            found.setdefault(label, page)
    found |= {row.name: Page(row.tokenization_id, row.tokenization.document.sha256) for row in rows}
    return {name: found[name] for name in names if name in found}


def _parsed(task_type: TaskType, row: Mapping[str, Any] | RowError) -> Iterator[NewItem | RowError]:
    """Yield the items that a row of the file holds; what is wrong with one does not hide the others."""
    if isinstance(row, RowError):
        yield row
        return
    try:
        for single in task_type.rows_of(row):
            try:
                yield task_type.item_from_row(single)
            except RowError as error:
                yield error
    except RowError as error:
        yield error


def _judged(  # noqa: PLR0911  one return for each thing that can be wrong
    number: int, new: NewItem, known: _Known, seen: dict[str, int], task_type: TaskType
) -> Checked | RowError | None:
    identity = identity_sha256(new)
    marks = [(f"id {new.external_id}", "external_id"), (identity, "question_text")]
    if new.published_id:
        marks.append((f"published {new.published_id}", "example_id"))
    for mark, column in marks:
        if mark in seen:
            return RowError(f"the same stands in row {seen[mark]}", column)
    seen |= {mark: number for mark, _ in marks}
    if known.identity_of.get(new.external_id) == identity:
        return None
    if new.external_id in known.identity_of:
        return RowError("this id was imported before with another question", "external_id")
    if identity in known.item_with:
        return RowError(f"this question is already item {known.item_with[identity]}", "question_text")
    if new.published_id and new.published_id in known.item_published:
        return RowError(f"this id is already that of item {known.item_published[new.published_id]}", "example_id")
    if task_type.needs_document and new.document not in known.pages:
        return RowError(f"no document is called {new.document!r} in this campaign: import the pages first", "document")
    return Checked(number, new, known.pages.get(new.document or ""))
