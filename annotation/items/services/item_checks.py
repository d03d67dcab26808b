"""Checks of import rows before the first item is written; memory use doesn't grow with the file."""

import hashlib
import json
import marshal
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.items.services.scratch import scratch_table
from annotation.items.services.shared_texts import MarkedText, SharedTexts
from annotation.models import Campaign, CampaignDocument, Item
from annotation.tasktypes.base import NewItem, TaskType
from storage.tables.faults import RowError
from storage.tables.reading import Row

CHUNK = 2_000
LONGEST_ORIGIN = 10_000  # signs of JSON: a pool of a hundred runs has less


class Page(NamedTuple):
    """A document for the rows that name it: the tokenization to pin, and the content address."""

    tokenization_id: int
    sha256: str


class Checked(NamedTuple):
    """A row that can become an item."""

    external_id: str
    published_id: str | None
    content: str  # JSON
    content_sha256: str
    question: str
    document: str  # its content address
    tokenization_id: int | None
    origin: str


_checked = partial(tuple.__new__, Checked)  # a third of the time of `Checked(*row)`
_LENGTH = 8  # bytes before each piece


class Spool:
    """Checked rows, kept on disk until all rows are checked."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it ends with this object
        self.count = 0

    def add(self, rows: list[Checked]) -> None:
        """Put some rows at the end."""
        packed = marshal.dumps(list(map(tuple, rows)))
        self._file.write(len(packed).to_bytes(_LENGTH))
        self._file.write(packed)
        self.count += len(rows)

    def chunks(self) -> Iterator[list[Checked]]:
        """Yield all rows in their order."""
        self._file.seek(0)
        while length := self._file.read(_LENGTH):
            # From memory: from a file, it reads each text by itself.
            rows = marshal.loads(self._file.read(int.from_bytes(length)))  # noqa: S302  what `add` wrote
            yield list(map(_checked, rows))


def checked_rows(
    campaign: Campaign, task_type: TaskType, rows: Iterable[Row]
) -> Iterator[list[tuple[int, Checked | RowError | None]]]:
    """Yield chunks of (row number, result): a new item, an error, or None if the campaign already has the item."""
    seen, texts = _Seen(), SharedTexts(campaign, task_type)
    iterator = iter(rows)
    while chunk := list(islice(iterator, CHUNK)):
        parsed = [(number, new) for number, row in chunk for new in _parsed(task_type, row)]
        items = [_Marked(new, texts.marked(new.content)) for _, new in parsed if isinstance(new, NewItem)]
        known = _Known(campaign, items)
        seen.look_at(items)
        texts.look_at(text for one in items for text in one.texts)
        marked = iter(items)
        yield [
            (
                number,
                new if isinstance(new, RowError) else _compared(number, next(marked), known, seen, texts, task_type),
            )
            for number, new in parsed
        ]
        seen.keep()
        texts.keep()


def identity_sha256(new: NewItem) -> str:
    """Return a hash that is equal for items with the same question."""
    return hashlib.sha256(new.identity.encode()).hexdigest()


class _Marked:
    """A row's item with its unique values (its question and its ids), each with the name of its column.

    ``texts`` are those that it shares with other rows.
    """

    __slots__ = ("identity", "marks", "new", "texts")

    def __init__(self, new: NewItem, texts: list[MarkedText]) -> None:
        self.new, self.identity, self.texts = new, identity_sha256(new), texts
        named = [("external_id", new.external_id), ("question_text", self.identity)]
        if new.published_id:
            named.append(("example_id", new.published_id))
        self.marks = [
            (hashlib.blake2b(f"{column} {text}".encode(), digest_size=16).digest(), column) for column, text in named
        ]


class _Known:
    """What the campaign already has of the ids, questions and documents in a chunk of rows."""

    def __init__(self, campaign: Campaign, items: list[_Marked]) -> None:
        here = Item.objects.filter(campaign=campaign)
        self.identity_of: dict[str, str] = {}
        self.item_with: dict[str, str] = {}
        self.item_published: dict[str, str] = {}
        self.pages = _pages_named(campaign, {one.new.document for one in items if one.new.document})
        if not here.exists():
            return
        named = here.filter(external_id__in=[one.new.external_id for one in items])
        self.identity_of = dict(named.values_list("external_id", "content_sha256"))
        same = here.filter(content_sha256__in=[one.identity for one in items])
        self.item_with = dict(same.values_list("content_sha256", "external_id"))
        published = here.filter(published_id__in=[one.new.published_id for one in items if one.new.published_id])
        self.item_published = dict(published.values_list("published_id", "external_id"))


class _Seen:
    """The first row of each id and each question, in a separate table that moves to disk when it is large."""

    def __init__(self) -> None:
        self._table = scratch_table("seen (mark BLOB PRIMARY KEY, row INTEGER)")
        self._rows: dict[bytes, int] = {}  # of the chunk at hand: what was seen before, then what is new
        self._new: list[tuple[bytes, int]] = []

    def look_at(self, items: list[_Marked]) -> None:
        """Look up which marks of a chunk appeared in earlier chunks."""
        marks = [mark for one in items for mark, _ in one.marks]
        found = self._table.execute(f"SELECT mark, row FROM seen WHERE mark IN ({', '.join('?' * len(marks))})", marks)  # noqa: S608  placeholders
        self._rows, self._new = dict(found), []

    def row_of(self, mark: bytes) -> int | None:
        """Return the row in which a mark of the chunk first appeared, or None."""
        return self._rows.get(mark)

    def add(self, mark: bytes, row: int) -> None:
        """Record a mark and its row."""
        self._rows[mark] = row
        self._new.append((mark, row))

    def keep(self) -> None:
        """Write the chunk's new marks into the table."""
        self._table.executemany("INSERT INTO seen VALUES (?, ?)", self._new)


def _pages_named(campaign: Campaign, names: set[str]) -> dict[str, Page]:
    """Return pages by the names that rows use: the name of the import first, then address or title."""
    if not names:
        return {}
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
    """Yield the items or errors of a row of the file; an error in one item doesn't hide the other items."""
    if isinstance(row, RowError):
        yield row
        return
    try:
        for single in task_type.rows_of(row):
            try:
                new, origin = task_type.item_from_row(single), _origin(row)
                yield replace(new, origin=origin) if origin else new
            except RowError as error:
                yield error
    except RowError as error:
        yield error


def _origin(row: Mapping[str, Any]) -> str:
    """Return a row's ``origin`` (where its item comes from, for any task type) as JSON, or "" if it has none."""
    origin = row.get("origin")
    if origin in (None, ""):
        return ""
    try:
        text = json.dumps(origin, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except ValueError:
        raise RowError("holds NaN or an infinite number", "origin") from None
    if len(text) > LONGEST_ORIGIN:
        raise RowError(f"longer than {LONGEST_ORIGIN:,} signs", "origin")
    return text


def _compared(
    number: int, marked: _Marked, known: _Known, seen: _Seen, texts: SharedTexts, task_type: TaskType
) -> Checked | RowError | None:
    """Return a row's result; an error if its text differs from the text of another row under the same id."""
    found = _judged(number, marked, known, seen, task_type)
    return (texts.add(number, marked.texts) or found) if isinstance(found, Checked) else found


def _judged(  # noqa: PLR0911  one return for each thing that can be wrong
    number: int, marked: _Marked, known: _Known, seen: _Seen, task_type: TaskType
) -> Checked | RowError | None:
    new, identity = marked.new, marked.identity
    for mark, column in marked.marks:
        if (row := seen.row_of(mark)) is not None:
            return RowError(f"the same stands in row {row}", column)
    for mark, _ in marked.marks:
        seen.add(mark, number)
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
    page = known.pages.get(new.document or "")
    return Checked(
        new.external_id,
        new.published_id,
        json.dumps(new.content),
        identity,
        new.question or new.identity,
        page.sha256 if page else "",
        page.tokenization_id if page else None,
        new.origin,
    )
