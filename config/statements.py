"""Queries of the hottest paths, compiled once: building one with the ORM costs many times what running it does.

Only where a profile shows it; everything else uses the ORM as it is.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model
from django.db.models.query import get_related_populators
from django.db.models.sql import UpdateQuery

Kind = type[UUID] | type[int] | type[str]
Value = UUID | int | str


class Statement:
    """A query that is compiled once for each kind of database, and run with the values of the moment.

    ``build`` returns the query for some values, each a UUID, a whole number or a text. It is called once, with values
    that stand for others: it may do nothing with them but put them into the query.
    """

    def __init__(self, build: Callable[..., Any], *kinds: Kind) -> None:
        self._build = build
        self._kinds = kinds
        self._stand_ins = [_stand_in(kind, number) for number, kind in enumerate(kinds, 1)]
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, *values: Value) -> list[tuple[Any, ...]]:
        """Run a query of plain values (``values_list``) and return its rows, each value as the database gives it."""
        return self._run(*values)[1]

    def instances(self, *values: Value) -> list[Any]:
        """Run a query of models and return them, with what they are ``select_related`` to."""
        compiled, rows = self._run(*values)
        return compiled.instances(rows) if rows else []

    def first(self, *values: Value) -> Any:
        """Return the first of `instances`, or None."""
        return next(iter(self.instances(*values)), None)

    def _run(self, *values: Value) -> "tuple[_Compiled, list[tuple[Any, ...]]]":
        with connection.cursor() as cursor:
            return self._execute(cursor, values), cursor.fetchall()

    def _execute(self, cursor: Any, values: Sequence[Value]) -> "_Compiled":
        compiled = self._compiled.get(connection.vendor) or self._compile()
        # As the ORM does, take a UUID as text too: compared as another kind of text it would silently find nothing.
        meant = [
            value if isinstance(value, kind) else kind(str(value))
            for value, kind in zip(values, self._kinds, strict=True)
        ]
        given = dict(zip(map(_adapted, self._stand_ins), map(_adapted, meant), strict=True))
        cursor.execute(compiled.sql, [given.get(value, value) for value in compiled.wanted])
        return compiled

    def _query(self) -> Any:
        return self._build(*self._stand_ins).query

    def _compile(self) -> "_Compiled":
        compiler = self._query().get_compiler(connection=connection)
        sql, wanted = compiler.as_sql()
        stand_ins = [_adapted(one) for one in self._stand_ins]
        missing = [one for one in stand_ins if one not in wanted]
        assert not missing, f"not in the query: {missing}"
        compiled = self._compiled[connection.vendor] = _Compiled(*_written_out(sql, wanted, stand_ins), compiler)
        return compiled


class Update(Statement):
    """An update of rows that is compiled once: ``build`` returns the rows, and what changes in them by field."""

    def run(self, *values: Value) -> int:
        """Change the rows and return how many there were."""
        with connection.cursor() as cursor:
            self._execute(cursor, values)
            return int(cursor.rowcount)

    def _query(self) -> Any:
        rows, changes = self._build(*self._stand_ins)
        query = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        return query


class _Compiled:
    """What is kept of a query: its text, the parameters with the values that stand for others, how rows are read."""

    def __init__(self, sql: str, wanted: list[Any], compiler: Any) -> None:
        self.sql, self.wanted, self._compiler = sql, wanted, compiler
        if compiler.klass_info is None:  # plain values
            return
        select, kinds = compiler.select, compiler.klass_info
        fields = kinds["select_fields"]
        self._own = slice(fields[0], fields[-1] + 1)
        self._model, self._names = kinds["model"], [column[0].target.attname for column in select[self._own]]
        self._related = get_related_populators(kinds, select, connection.alias)  # type: ignore[call-arg]  # of a later Django
        self._converters = compiler.get_converters([column[0] for column in select])

    def instances(self, rows: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Make models of rows, as Django's own `ModelIterable` does."""
        made: list[Model] = []
        for row in self._compiler.apply_converters(rows, self._converters) if self._converters else rows:
            made.append(self._model.from_db(connection.alias, self._names, row[self._own]))
            for populator in self._related:
                populator.populate(row, made[-1])
        return made


def _written_out(sql: str, wanted: Sequence[Any], stand_ins: Sequence[Value]) -> tuple[str, list[Any]]:
    """Write the texts and numbers that never change into a query; return it and the parameters that are left.

    With ``state = ?``, SQLite plans a query anew each time it is run, to see whether a partial index on that state serves.
    """
    pieces, left = sql.split("%s"), list[Any]()
    assert len(pieces) == len(wanted) + 1, sql
    written = pieces[0]
    for value, piece in zip(wanted, pieces[1:], strict=True):
        if value in stand_ins or isinstance(value, bool) or not isinstance(value, str | int):
            left.append(value)
            written += "%s"
        else:
            written += (
                str(value) if isinstance(value, int) else "'{}'".format(value.replace("'", "''").replace("%", "%%"))
            )
        written += piece
    return written, left


def _stand_in(kind: Kind, number: int) -> Value:
    """Return a value that stands for another, and that no query contains of its own."""
    if kind is UUID:
        return UUID(int=0xC0DE_0000 + number)
    return -7_700_000_000 - number if kind is int else f"stand-in {number} of a statement"


def _adapted(value: Value) -> Value:
    """Return a value as it stands among the parameters of a query."""
    return value.hex if isinstance(value, UUID) and not connection.features.has_native_uuid_field else value
