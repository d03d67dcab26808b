"""Pages of results: each answer names the address of the next page."""

import base64
import json
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from ninja import Field, Schema

from api.http.problems import invalid

MOST = 1_000
T = TypeVar("T")
M = TypeVar("M", bound=Model)


class Page(Schema, Generic[T]):
    """A page of results. ``next`` is the address of the next page; null on the last page."""

    results: list[T]
    next: str | None = None


class FieldsQuery(Schema):
    """The parameters of everything that can be read."""

    fields: str = Field("", max_length=500, description="The fields to return, separated by commas.")


class PageQuery(FieldsQuery):
    """The parameters of every list."""

    limit: int = Field(100, ge=1, le=MOST, description="The number of results per page.")
    cursor: str = Field("", max_length=500, description="Where the page begins. Follow `next` instead of building it.")


def page_of(
    request: HttpRequest, rows: QuerySet[M], asked: PageQuery, by: str = "pk", *, newest_first: bool = False
) -> dict[str, Any]:
    """Return one page of rows and the address of the next page.

    Parameters
    ----------
    by
        The column that sorts the rows. Rows with equal values are sorted by their keys.
    """
    order = ("pk",) if by == "pk" else (by, "pk")
    if asked.cursor:
        rows = rows.filter(_after(rows, order, asked.cursor, newest_first=newest_first))
    found = list(rows.order_by(*(f"-{name}" if newest_first else name for name in order))[: asked.limit + 1])
    if len(found) <= asked.limit:
        return {"results": found, "next": None}
    last = found[asked.limit - 1]
    query = request.GET.copy()
    query["cursor"] = _packed([getattr(last, name) for name in order])
    return {"results": found[: asked.limit], "next": f"{request.path}?{query.urlencode()}"}


def _packed(values: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values, default=str).encode()).decode().rstrip("=")


def _after(rows: QuerySet[M], order: tuple[str, ...], cursor: str, *, newest_first: bool) -> Q:
    """Return the condition that a row comes after the one that a cursor names."""
    meta = rows.model._meta  # noqa: SLF001  Django's documented way to a model's fields
    columns: list[Any] = [meta.get_field(meta.pk.name if name == "pk" else name) for name in order]
    try:
        sent = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        values = [column.to_python(value) for column, value in zip(columns, sent, strict=True)]
    except (ValueError, TypeError, OverflowError, ValidationError):
        values = [None]
    if None in values:
        raise invalid([{"field": "cursor", "detail": "This cursor isn't valid. Follow `next`."}])
    beyond = "lt" if newest_first else "gt"
    if len(order) == 1:
        return Q(**{f"pk__{beyond}": values[0]})
    return Q(**{f"{order[0]}__{beyond}": values[0]}) | Q(**{order[0]: values[0], f"pk__{beyond}": values[1]})
