"""Tables that managers read: sorted, with the columns they choose, paged by key, saved as CSV, acted on in bulk.

A page names its columns over a query; what the address asks for (``sort``, ``columns``, ``after``, ``format``) is the
same everywhere, and so is the template, ``_table.html``.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Protocol

from django.core.exceptions import ValidationError
from django.db.models import F, Model, Q, QuerySet
from django.http import QueryDict, StreamingHttpResponse

from storage.tables.cells import EXCEL_MARK, harmless

PAGE_SIZE = 50
MOST_COUNTED = 50_000  # rows, so that no page counts the rows of a large campaign
CSV_ROWS = 1000  # read at a time


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table says at one place: a text, maybe with a link, or as a tag (``good``, ``warn``, ``bad``, ``plain``)."""

    text: Any
    href: str = ""
    tag: str = ""
    is_code: bool = False
    whole: str = ""  # what a file holds where the page shows the beginning

    @property
    def shown(self) -> Any:
        """The text as a page shows it; times are UTC, as the heads of their columns say."""
        return f"{self.text:%Y-%m-%d %H:%M}" if isinstance(self.text, datetime) else self.text

    @property
    def plain(self) -> str:
        """The text as a file holds it."""
        if self.whole:
            return harmless(self.whole)
        if self.text is None:
            return ""
        if isinstance(self.text, int | float):
            return str(self.text)
        return self.text.isoformat() if isinstance(self.text, datetime) else harmless(str(self.text))


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Without ``order``, a field of the rows that is never null, the table cannot be sorted by it."""

    key: str
    title: Any
    cell: Callable[[Any], Any]  # returns a Cell, or its text
    order: str = ""
    is_number: bool = False
    is_extra: bool = False  # shown only where it was chosen

    def of(self, row: Any) -> Cell:
        """Return the cell of a row."""
        found = self.cell(row)
        return found if isinstance(found, Cell) else Cell(found)


@dataclass(frozen=True, slots=True)
class BulkAct:
    """What can be done with the rows that are ticked: its name, and what will happen, said before the second press."""

    key: str
    title: Any
    consequence: Any
    reason: Any = ""  # the name of a field in which to give one, sent as ``reason-<key>``


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: how the table is sorted by it now, and what a press asks for."""

    column: Column
    sorted: str  # as ``aria-sort`` wants it
    press: str


@dataclass(frozen=True, slots=True)
class Place:
    """Which rows of how many a page shows, and which page of how many it is."""

    first: int
    last: int
    total: int
    is_capped: bool  # there are more than ``total`` rows
    page: int
    pages: int

    @property
    def before(self) -> int:
        """The page before this one."""
        return self.page - 1

    @property
    def behind(self) -> int:
        """The page behind this one."""
        return self.page + 1


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of a table as its template shows it; ``after`` is the key to go on after.

    ``place`` is None where the rows are not counted, and behind those that are.
    """

    heads: Sequence[Head]
    rows: Sequence[tuple[str, Sequence[tuple[Column, Cell]]]]
    after: str
    columns: Sequence[tuple[Column, bool]]
    acts: Sequence[BulkAct]
    place: Place | None


class Rows(Protocol):
    """Where the rows of a table come from."""

    @property
    def is_counted(self) -> bool:
        """Whether pages say how many rows there are, and lead to any page of them."""

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, from behind that of a key on, or from the first where there is no such row."""

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page, the first being 1, and one more where there is another page."""

    def count(self) -> int:
        """Return how many rows there are, or one more than `MOST_COUNTED` where there are more."""

    def key_of(self, row: Any) -> str:
        """Return what names a row."""

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the rows that are here of those named."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Rows of a query; its order by a field is that of the field, then of the primary key."""

    rows: "QuerySet[Any]"
    is_counted: bool = False

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, those behind the row of a key."""
        beyond, found = "lt" if is_down else "gt", self._ordered(order, is_down=is_down)
        pk = self._key(key)
        last = None if pk is None else found.filter(pk=pk).values_list("sorted_by", flat=True).first()
        if last is not None:
            later = Q(**{f"sorted_by__{beyond}": last}) | Q(**{f"pk__{beyond}": pk})
            found = found.filter(later, **{f"sorted_by__{beyond}e": last})
        return list(found[:most])

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page and one more."""
        return list(self._ordered(order, is_down=is_down)[_places(number)])

    def count(self) -> int:
        """Count the rows, as far as `MOST_COUNTED`."""
        return self.rows.order_by().values("pk")[: MOST_COUNTED + 1].count()

    def _ordered(self, order: str, *, is_down: bool) -> "QuerySet[Any]":
        sign = "-" if is_down else ""
        rows: QuerySet[Any] = self.rows.annotate(sorted_by=F(order or "pk"))
        return rows.order_by(f"{sign}sorted_by", f"{sign}pk")

    def key_of(self, row: Model) -> str:
        """Return the primary key as text."""
        return str(row.pk)

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the rows of some keys, in the order of the keys themselves."""
        return list(self.rows.filter(pk__in=[pk for key in keys if (pk := self._key(key)) is not None]).order_by("pk"))

    def _key(self, text: str) -> Any:
        """Return a primary key that an address names, or None: also for a number that no column holds."""
        field = self.rows.model._meta.pk  # noqa: SLF001
        try:
            return field.clean(text, None) if text else None
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class ListRows:
    """Rows that a job has computed and a page has read whole: mappings, each with a text that names it."""

    rows: Sequence[Mapping[str, Any]]
    key: str
    is_counted: bool = True

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, those behind the row of a key."""
        found = self._ordered(order, is_down=is_down)
        begin = next((number for number, row in enumerate(found, 1) if row[self.key] == key), 0)
        return found[begin : begin + most]

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page and one more."""
        return self._ordered(order, is_down=is_down)[_places(number)]

    def count(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def _ordered(self, order: str, *, is_down: bool) -> list[Mapping[str, Any]]:
        return sorted(self.rows, key=lambda row: (row[order or self.key], row[self.key]), reverse=is_down)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the text that names a row."""
        return str(row[self.key])

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the rows of some keys."""
        return [row for row in self.rows if row[self.key] in keys]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns over rows.

    ``load`` turns some rows into what the columns read, one each: a place for what takes a statement a page.
    ``sort`` is the order where the address names none, as there: a column's key, with ``-`` for the other way.
    """

    rows: Rows
    columns: Sequence[Column]
    load: Callable[[Sequence[Any]], Sequence[Any]] = list
    sort: str = ""

    def page(self, asked: QueryDict, acts: Sequence[BulkAct] = ()) -> TablePage:
        """Return the page that an address asks for; what it asks for in vain is passed over."""
        sort, after = self._sort(asked), asked.get("after", "")
        number = _page_number(asked) if self.rows.is_counted and not after else 0
        if number:
            found = self.rows.page(number, order=self._order(sort), is_down=sort.startswith("-"))
        else:
            found = self._behind(after, sort, PAGE_SIZE + 1)
        shown, columns = found[:PAGE_SIZE], self._chosen(asked)
        keys = [self.rows.key_of(row) for row in shown]
        cells = [[(column, column.of(row)) for column in columns] for row in self.load(shown)]
        return TablePage(
            heads=[_head(column, sort) for column in columns],
            rows=list(zip(keys, cells, strict=True)),
            after=keys[-1] if len(found) > PAGE_SIZE else "",
            acts=acts,
            columns=[(column, column in columns) for column in self.columns],
            place=self._place(number, len(shown), is_last=len(found) <= PAGE_SIZE) if number else None,
        )

    def csv(self, asked: QueryDict) -> Iterator[str]:
        """Yield the lines of a file with all columns of all rows, in the order that an address asks for."""
        yield _line([column.key for column in self.columns])
        key, sort = "", self._sort(asked)
        while found := self._behind(key, sort, CSV_ROWS):
            for row in self.load(found):
                yield _line([column.of(row).plain for column in self.columns])
            if len(found) < CSV_ROWS:
                return
            key = self.rows.key_of(found[-1])

    def ticked(self, posted: QueryDict) -> list[Any]:
        """Return the rows of this table that a form has ticked: a page of them at most."""
        return self.rows.named(posted.getlist("row")[:PAGE_SIZE])

    def _behind(self, key: str, sort: str, most: int) -> list[Any]:
        return self.rows.behind(key, order=self._order(sort), is_down=sort.startswith("-"), most=most)

    def _order(self, sort: str) -> str:
        return next((column.order for column in self.columns if column.key == sort.removeprefix("-")), "")

    def _place(self, number: int, shown: int, *, is_last: bool) -> Place:
        before = (number - 1) * PAGE_SIZE
        total = before + shown if is_last and shown else self.rows.count()
        capped = min(total, MOST_COUNTED)
        return Place(
            first=before + 1 if shown else 0,
            last=before + shown,
            total=capped,
            is_capped=total > capped,
            page=number,
            pages=max(1, -(-capped // PAGE_SIZE)),
        )

    def _sort(self, asked: QueryDict) -> str:
        sortable = {column.key for column in self.columns if column.order}
        wanted = asked.get("sort", "")
        return wanted if wanted.removeprefix("-") in sortable else self.sort

    def _chosen(self, asked: QueryDict) -> list[Column]:
        keys = set(asked.getlist("columns"))
        chosen = [column for column in self.columns if column.key in keys]
        return chosen or [column for column in self.columns if not column.is_extra]


def _page_number(asked: QueryDict) -> int:
    """Return the page that an address names, or the first."""
    text = asked.get("page", "")
    number = int(text) if text.isdecimal() and len(text) < 10 else 1
    return min(max(number, 1), -(-MOST_COUNTED // PAGE_SIZE))


def _places(number: int) -> slice:
    """Return where the rows of a page are, and one more."""
    begin = (number - 1) * PAGE_SIZE
    return slice(begin, begin + PAGE_SIZE + 1)


def as_file(table: Table, asked: QueryDict, *, name: str) -> StreamingHttpResponse | None:
    """Return the table as a file where the address asks for one."""
    if asked.get("format") != "csv":
        return None
    disposition = f'attachment; filename="{name}.csv"'
    lines = chain([EXCEL_MARK], table.csv(asked))
    return StreamingHttpResponse(
        lines, content_type="text/csv; charset=utf-8", headers={"Content-Disposition": disposition}
    )


def _head(column: Column, sort: str) -> Head:
    here, is_down = sort.removeprefix("-") == column.key, sort.startswith("-")
    state = ("descending" if is_down else "ascending") if here else "none"
    return Head(column, state, f"-{column.key}" if here and not is_down else column.key)


def _line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()
