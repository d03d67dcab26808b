"""Queries of the hottest paths, compiled once: building one with the ORM takes many times as long as running it.

Use it only where a profile shows the need; everything else uses the ORM directly.

These parts of Django are private, or documented as subject to change. They are used because Django can't compile a
query before its values are known, and can't make models from rows that another query has read:

- ``QuerySet.query`` and ``Query.chain``, to make an UPDATE of a queryset's conditions (`Update`);
- ``sql.UpdateQuery`` and ``sql.InsertQuery``, whose values are expressions that stand for a value (`Blank`);
- ``Query.get_compiler`` with the compiler's ``as_sql``, ``select``, ``klass_info``, ``get_converters`` and
  ``apply_converters``, which `ModelIterable` uses in the same way;
- ``query.get_related_populators``, which sets what ``select_related`` read;
- ``Model.from_db``, ``_meta.concrete_fields`` and ``_state``, which are documented or as good as.

``tests/database/test_statements.py`` compares all of it with the ORM. ``.ci/run`` runs it with the next release of Django
too, where it finds a Python that is new enough for that release.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import connection
from django.db.models import (
    BigIntegerField,
    DateTimeField,
    Expression,
    Field,
    JSONField,
    Model,
    TextField,
    UUIDField,
)
from django.db.models.constants import OnConflict
from django.db.models.query import get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery

from database.transactions import require_transaction

try:
    from django.db.models import FETCH_ONE
except ImportError:  # before Django 6.1
    FETCH_ONE = None  # type: ignore[assignment]

# From Django 6.1 on, models are told how to fetch what was left out of them: one by one, as before.
_FETCH_MODE: tuple[Any, ...] = (FETCH_ONE,) if FETCH_ONE is not None else ()
_FIELDS: "dict[type, Field[Any, Any]]" = {
    UUID: UUIDField(),
    int: BigIntegerField(),
    str: TextField(),
    datetime: DateTimeField(),
    dict: JSONField(),
}


_BITS = 64  # of an integer in a database, with its sign


def _cursor() -> Any:
    return connection.prepared_cursor()  # type: ignore[attr-defined]  # both of `database.backends` have it


class Blank(Expression):
    """The placeholder of a value in a query that is compiled before the value is known."""

    def __init__(self, number: int, kind: type) -> None:
        super().__init__(output_field=_FIELDS[kind])
        self.number = number

    def as_sql(self, *_: Any) -> tuple[str, list[Any]]:  # type: ignore[override]  # the parameter is this very object
        """Return a parameter that is replaced by the value."""
        return "%s", [self]


class Statement:
    """A query that is compiled once for each kind of database, and run with current values.

    ``build`` returns the query for a blank of each of ``kinds``: UUID, int, str, datetime or, for JSON, dict.
    """

    def __init__(self, build: Callable[..., Any], *kinds: type) -> None:
        self._build = build
        self._blanks = [Blank(number, kind) for number, kind in enumerate(kinds)]
        self._fields = [_FIELDS[kind] for kind in kinds]
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query of plain values (``values_list``) and return its rows, with values in the database's form."""
        return self._run(*values)[1]

    def instances(self, *values: Any) -> list[Any]:
        """Run a query of models and return them, with the objects of ``select_related``."""
        compiled, rows = self._run(*values)
        return compiled.instances(rows) if compiled is not None and rows else []

    def first(self, *values: Any) -> Any:
        """Return the first of `instances`, or None."""
        return next(iter(self.instances(*values)), None)

    def refresh(self, instance: Model, *values: Any) -> None:
        """Give an instance the fields of the first of `instances`, as ``refresh_from_db`` would."""
        [stored] = self.instances(*values)
        for field in stored._meta.concrete_fields:  # noqa: SLF001  Django's documented way to a model's fields
            setattr(instance, field.attname, getattr(stored, field.attname))

    def _run(self, *values: Any) -> "tuple[_Compiled | None, list[tuple[Any, ...]]]":
        if any(isinstance(value, int) and value.bit_length() >= _BITS for value in values):
            return None, []  # no row holds such a number, as for the ORM; databases refuse to compare with it
        with _cursor() as cursor:
            return self._execute(cursor, values), cursor.fetchall()

    def _execute(self, cursor: Any, values: Sequence[Any]) -> "_Compiled":
        compiled = self._compiled.get(connection.vendor) or self._compile()
        if compiled.locks:
            require_transaction()  # the ORM looks at this when it compiles
        given = [field.get_db_prep_value(value, connection) for field, value in zip(self._fields, values, strict=True)]
        cursor.execute(compiled.sql, [given[one.number] if isinstance(one, Blank) else one for one in compiled.wanted])
        return compiled

    def _query(self) -> Any:
        return self._build(*self._blanks).query

    def _compile(self) -> "_Compiled":
        compiler = self._query().get_compiler(connection=connection)
        sql, wanted = compiler.as_sql()
        found = {one.number for one in wanted if isinstance(one, Blank)}
        assert len(found) == len(self._blanks), f"a blank is not in the query: {sql}"
        compiled = self._compiled[connection.vendor] = _Compiled(*_written_out(sql, wanted), compiler)
        compiled.locks = bool(compiler.query.select_for_update)
        return compiled


class Update(Statement):
    """An update that is compiled once: ``build`` returns the rows, and the changes by field."""

    def run(self, *values: Any) -> int:
        """Change the rows and return how many there were."""
        with _cursor() as cursor:
            self._execute(cursor, values)
            return int(cursor.rowcount)

    def _query(self) -> Any:
        rows, changes = self._build(*self._blanks)
        query = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        return query


class Insert:
    """An insert of one row of a model that is compiled once. Signals are not sent, as with ``bulk_create``.

    With ``once``, nothing is inserted if a row with the same unique values is stored.
    """

    def __init__(self, model: type[Model], *, once: bool = False) -> None:
        self._model, self._on_conflict = model, OnConflict.IGNORE if once else None
        own = model._meta.concrete_fields  # noqa: SLF001  Django's documented way to a model's fields
        self._fields = [field for field in own if not field.primary_key or field.has_default()]
        self._compiled: dict[str, str] = {}

    def run(self, instance: Model) -> bool:
        """Insert a new instance, and give it the key that the database made; return whether it was inserted."""
        sql = self._compiled.get(connection.vendor) or self._compile(instance)
        values = [field.get_db_prep_save(field.pre_save(instance, True), connection) for field in self._fields]
        with _cursor() as cursor:
            cursor.execute(sql, values)
            made = cursor.fetchone()
        if made is None:
            return False
        (instance.pk,) = made
        instance._state.adding, instance._state.db = False, connection.alias  # noqa: SLF001  as `Model.save` leaves it
        return True

    def _compile(self, instance: Model) -> str:
        query = InsertQuery(self._model, on_conflict=self._on_conflict)
        query.insert_values(self._fields, [instance])
        compiler = query.get_compiler(connection=connection)
        compiler.returning_fields = [self._model._meta.pk]  # noqa: SLF001  as above
        [(sql, _)] = compiler.as_sql()
        self._compiled[connection.vendor] = str(sql)
        return str(sql)


class Save:
    """An update of a stored instance that is compiled once: of the named fields, or of all. Signals are not sent."""

    def __init__(self, model: type[Model], *names: str) -> None:
        self._meta = model._meta  # noqa: SLF001  Django's documented way to a model's fields
        own = [field for field in self._meta.concrete_fields if not field.primary_key]
        self._fields = [field for field in own if not names or field.name in names]
        assert len(self._fields) == len(names or own), f"{model.__name__} lacks one of {names}"
        self._compiled: dict[str, str] = {}

    def run(self, instance: Model) -> None:
        """Write the instance's values to its row.

        Raises
        ------
        ObjectDoesNotExist
            There is no such row.
        """
        sql = self._compiled.get(connection.vendor) or self._compile()
        values = [field.get_db_prep_save(field.pre_save(instance, False), connection) for field in self._fields]
        with _cursor() as cursor:
            cursor.execute(sql, [*values, self._meta.pk.get_db_prep_save(instance.pk, connection)])
            if cursor.rowcount != 1:
                raise ObjectDoesNotExist(f"{self._meta.label} {instance.pk} isn't stored")

    def _compile(self) -> str:
        quote = connection.ops.quote_name
        changes = ", ".join(f"{quote(str(field.column))} = %s" for field in self._fields)
        sql = f"UPDATE {quote(self._meta.db_table)} SET {changes} WHERE {quote(str(self._meta.pk.column))} = %s"  # noqa: S608  names of columns
        self._compiled[connection.vendor] = sql
        return sql


class _Compiled:
    """The compiled form of a query: its SQL, its parameters with placeholders, and how its rows are read."""

    locks = False  # rows: it needs a transaction

    def __init__(self, sql: str, wanted: list[Any], compiler: Any) -> None:
        self.sql, self.wanted, self._compiler = sql, wanted, compiler
        if compiler.klass_info is None:  # plain values
            return
        select, kinds = compiler.select, compiler.klass_info
        fields = kinds["select_fields"]
        self._own = slice(fields[0], fields[-1] + 1)
        self._model, self._names = kinds["model"], [column[0].target.attname for column in select[self._own]]
        self._related = get_related_populators(kinds, select, connection.alias, *_FETCH_MODE)
        self._converters = compiler.get_converters([column[0] for column in select])

    def instances(self, rows: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Make models of rows, as Django's own `ModelIterable` does."""
        made: list[Model] = []
        for row in self._compiler.apply_converters(rows, self._converters) if self._converters else rows:
            made.append(self._model.from_db(connection.alias, self._names, row[self._own]))
            for populator in self._related:
                populator.populate(row, made[-1])
        return made


def _written_out(sql: str, wanted: Sequence[Any]) -> tuple[str, list[Any]]:
    """Write a query's constant texts and numbers into its SQL; return the SQL and the remaining parameters.

    With ``state = ?``, SQLite plans a query again at each run, to see whether a partial index on that state applies.
    """
    pieces, left = sql.split("%s"), list[Any]()
    assert len(pieces) == len(wanted) + 1, sql
    written = pieces[0]
    for value, piece in zip(wanted, pieces[1:], strict=True):
        if isinstance(value, bool) or not isinstance(value, str | int):
            left.append(value)
            written += "%s"
        else:
            written += (
                str(value) if isinstance(value, int) else "'{}'".format(value.replace("'", "''").replace("%", "%%"))
            )
        written += piece
    return written, left
