"""Queries of the hottest paths, compiled once: building one with the ORM costs many times what running it does.

Only for reading plain values, and only where a profile shows it; everything else uses the ORM as it is.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet


class Statement:
    """A query of plain values that is compiled once for each kind of database, and run with the values of the moment.

    ``build`` returns the query (``values_list``) for some values, each a UUID or a whole number. It is called once,
    with values that stand for others: it may do nothing with them but put them into the query.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *kinds: type[UUID] | type[int]) -> None:
        self._build = build
        self._kinds = kinds
        self._stand_ins = [_stand_in(kind, number) for number, kind in enumerate(kinds, 1)]
        self._compiled: dict[str, tuple[str, list[Any]]] = {}

    def rows(self, *values: UUID | int | str) -> list[tuple[Any, ...]]:
        """Run the query and return its rows, each value as the database gives it."""
        sql, wanted = self._compiled.get(connection.vendor) or self._compile()
        # As the ORM does, take a UUID as text too: compared as another kind of text it would silently find nothing.
        meant = [
            value if isinstance(value, kind) else kind(str(value))
            for value, kind in zip(values, self._kinds, strict=True)
        ]
        given = dict(zip(map(_adapted, self._stand_ins), map(_adapted, meant), strict=True))
        with connection.cursor() as cursor:
            cursor.execute(sql, [given.get(value, value) for value in wanted])
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found

    def _compile(self) -> tuple[str, list[Any]]:
        sql, wanted = self._build(*self._stand_ins).query.sql_with_params()
        missing = [one for one in self._stand_ins if _adapted(one) not in wanted]
        assert not missing, f"not in the query: {missing}"
        self._compiled[connection.vendor] = sql, list(wanted)
        return self._compiled[connection.vendor]


def _stand_in(kind: type[UUID] | type[int], number: int) -> UUID | int:
    """Return a value that stands for another, and that no query contains of its own."""
    return UUID(int=0xC0DE_0000 + number) if kind is UUID else -7_700_000_000 - number


def _adapted(value: UUID | int) -> UUID | int | str:
    """Return a value as it stands among the parameters of a query."""
    return value.hex if isinstance(value, UUID) and not connection.features.has_native_uuid_field else value
