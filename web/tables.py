"""Tables for managers: sorted, with selectable columns, paged by key, saved as CSV, with bulk actions.

A page defines its columns over a query. The URL parameters (``sort``, ``columns``, ``after``, ``format``) are the
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
    """A table cell: a text, optionally with a link, or as a tag (``good``, ``warn``, ``bad``, ``plain``)."""

    text: Any
    href: str = ""
    tag: str = ""
    is_code: bool = False
    whole: str = ""  # what a file holds where the page shows the beginning

    @property
    def shown(self) -> Any:
        """The text as shown on a page; times are in UTC, as the column headers say."""
        return f"{self.text:%Y-%m-%d %H:%M}" if isinstance(self.text, datetime) else self.text

    @property
    def plain(self) -> str:
        """The text as written to a file."""
        if self.whole:
            return harmless(self.whole)
        if self.text is None:
            return ""
        if isinstance(self.text, int | float):
            return str(self.text)
        return self.text.isoformat() if isinstance(self.text, datetime) else harmless(str(self.text))


@dataclass(frozen=True, slots=True)
class Column:
    """One column. The table can be sorted by ``order``, a field of the rows that is never null, if it is given."""

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
    """An action on the selected rows: its name, and its consequence, shown before confirmation."""

    key: str
    title: Any
    consequence: Any
    reason: Any = ""  # the name of a field in which to give one, sent as ``reason-<key>``


@dataclass(frozen=True, slots=True)
class Head:
    """The header of a column: the current sorting, and the sorting after a click."""

    column: Column
    sorted: str  # as ``aria-sort`` wants it
    press: str


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a page: which rows it shows out of how many, and which page it is."""

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
        """The page after this one."""
        return self.page + 1


@dataclass(frozen=True, slots=True)
class TablePage:
    """A page of a table for its template; ``after`` is the key after which the next page starts.

    ``place`` is None if the rows aren't counted, and for pages beyond the counted rows.
    """

    heads: Sequence[Head]
    rows: Sequence[tuple[str, Sequence[tuple[Column, Cell]]]]
    after: str
    columns: Sequence[tuple[Column, bool]]
    acts: Sequence[BulkAct]
    place: Place | None


class Rows(Protocol):
    """The interface to the rows of a table."""

    @property
    def is_counted(self) -> bool:
        """Whether pages show the number of rows, and link to any page."""

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, starting after the row with a key, or at the first row if that row doesn't exist."""

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page (the first page is 1), and one more row if there is another page."""

    def count(self) -> int:
        """Return the number of rows, or `MOST_COUNTED` + 1 if there are more."""

    def key_of(self, row: Any) -> str:
        """Return the key of a row."""

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the existing rows with these keys."""


@dataclass(frozen=True, slots=True)
class QueryRows:
    """Rows of a query; sorting by a field uses the field, then the primary key."""

    rows: "QuerySet[Any]"
    is_counted: bool = False

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, starting after the row with a key."""
        beyond, found = "lt" if is_down else "gt", self._ordered(order, is_down=is_down)
        pk = self._key(key)
        last = None if pk is None else found.filter(pk=pk).values_list("sorted_by", flat=True).first()
        if last is not None:
            later = Q(**{f"sorted_by__{beyond}": last}) | Q(**{f"pk__{beyond}": pk})
            found = found.filter(later, **{f"sorted_by__{beyond}e": last})
        return list(found[:most])

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page and one more row."""
        return list(self._ordered(order, is_down=is_down)[_places(number)])

    def count(self) -> int:
        """Count the rows up to `MOST_COUNTED`."""
        return self.rows.order_by().values("pk")[: MOST_COUNTED + 1].count()

    def _ordered(self, order: str, *, is_down: bool) -> "QuerySet[Any]":
        sign = "-" if is_down else ""
        rows: QuerySet[Any] = self.rows.annotate(sorted_by=F(order or "pk"))
        return rows.order_by(f"{sign}sorted_by", f"{sign}pk")

    def key_of(self, row: Model) -> str:
        """Return the primary key as text."""
        return str(row.pk)

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the rows with some keys, in the order of the keys."""
        return list(self.rows.filter(pk__in=[pk for key in keys if (pk := self._key(key)) is not None]).order_by("pk"))

    def _key(self, text: str) -> Any:
        """Return the primary key in a URL, or None; also None for a number too large for the column."""
        field = self.rows.model._meta.pk  # noqa: SLF001
        try:
            return field.clean(text, None) if text else None
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class ListRows:
    """Rows computed by a job and loaded completely: mappings, each with a text that identifies it."""

    rows: Sequence[Mapping[str, Any]]
    key: str
    is_counted: bool = True

    def behind(self, key: str, *, order: str, is_down: bool, most: int) -> list[Any]:
        """Return rows in order, starting after the row with a key."""
        found = self._ordered(order, is_down=is_down)
        begin = next((number for number, row in enumerate(found, 1) if row[self.key] == key), 0)
        return found[begin : begin + most]

    def page(self, number: int, *, order: str, is_down: bool) -> list[Any]:
        """Return the rows of a page and one more row."""
        return self._ordered(order, is_down=is_down)[_places(number)]

    def count(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def _ordered(self, order: str, *, is_down: bool) -> list[Mapping[str, Any]]:
        return sorted(self.rows, key=lambda row: (row[order or self.key], row[self.key]), reverse=is_down)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the text that identifies a row."""
        return str(row[self.key])

    def named(self, keys: Sequence[str]) -> list[Any]:
        """Return the rows of some keys."""
        return [row for row in self.rows if row[self.key] in keys]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns over rows.

    ``load`` turns some rows into the objects that the columns read, one each; it can run one query for a whole page.
    ``sort`` is the default order, in the format of the URL parameter: a column's key, with ``-`` for descending.
    """

    rows: Rows
    columns: Sequence[Column]
    load: Callable[[Sequence[Any]], Sequence[Any]] = list
    sort: str = ""

    def page(self, asked: QueryDict, acts: Sequence[BulkAct] = ()) -> TablePage:
        """Return the page requested in the URL; invalid parameters are ignored."""
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
        """Yield the lines of a CSV file with all columns of all rows, in the order requested in the URL."""
        yield _line([column.key for column in self.columns])
        key, sort = "", self._sort(asked)
        while found := self._behind(key, sort, CSV_ROWS):
            for row in self.load(found):
                yield _line([column.of(row).plain for column in self.columns])
            if len(found) < CSV_ROWS:
                return
            key = self.rows.key_of(found[-1])

    def ticked(self, posted: QueryDict) -> list[Any]:
        """Return the rows of this table selected in a form: at most one page."""
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
    """Return the page number in the URL, or the first page."""
    text = asked.get("page", "")
    number = int(text) if text.isdecimal() and len(text) < 10 else 1
    return min(max(number, 1), -(-MOST_COUNTED // PAGE_SIZE))


def _places(number: int) -> slice:
    """Return the slice of a page's rows, and one more row."""
    begin = (number - 1) * PAGE_SIZE
    return slice(begin, begin + PAGE_SIZE + 1)


def as_file(table: Table, asked: QueryDict, *, name: str) -> StreamingHttpResponse | None:
    """Return the table as a file if the URL requests one."""
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
