"""Work on many rows at once: inserts without a model instance for each, and fewer searches for garbage.

Building instances takes twenty times as long as the insert.
"""

import gc
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, models

Row = Sequence[int | str | None]

_collecting, _usual_of = threading.Lock(), dict[object, tuple[int, int, int]]()
RARELY = 100_000  # after this many new objects, the youngest are searched for garbage


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Collect garbage less often in this process, as long as one thread is inside.

    Many records contain no cycles, and the search for some took a third of a release's time and a seventh of an import's.
    """
    this = object()
    with _collecting:
        usual = next(iter(_usual_of.values()), gc.get_threshold())
        _usual_of[this] = usual
        gc.set_threshold(RARELY, *usual[1:])
    try:
        yield
    finally:
        with _collecting:
            del _usual_of[this]
            if not _usual_of:
                gc.set_threshold(*usual)


def rows_insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Iterable[Row],
    *,
    same: Mapping[str, Any],
    ignore_conflicts: bool = False,
) -> None:
    """Insert rows, each with the values of ``columns`` in database form: numbers, text, JSON as text.

    ``same`` holds the fields with the same value in all rows, as Python values. Every other field has its default.
    With ``ignore_conflicts``, rows that already exist stay unchanged.
    """
    meta = model._meta  # noqa: SLF001  Django's documented way to a model's fields
    fields = {field.attname: field for field in meta.concrete_fields if not field.primary_key}
    given = {name: field.get_default() for name, field in fields.items()} | dict(same)
    fixed = [name for name in fields if name not in columns]
    values = [fields[name].get_db_prep_save(given[name], connection) for name in fixed]
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(fields[name].column)) for name in [*fixed, *columns])
    into = f"INSERT INTO {quote(meta.db_table)} ({names})"
    ending = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    if connection.vendor == "postgresql":
        _insert_arrays(into, ending, [fields[name] for name in fixed], values, [fields[name] for name in columns], rows)
        return
    marks = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(f"{into} VALUES ({marks}){ending}", [(*values, *row) for row in rows])


def statistics_refresh(*models_: type[models.Model]) -> None:
    """Update PostgreSQL's statistics of tables: until autovacuum does so, it plans as if they were empty."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in models_:
                cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)}")  # noqa: SLF001  as above


def _insert_arrays(
    into: str, ending: str, fixed: list[Any], values: list[Any], varying: list[Any], rows: Iterable[Row]
) -> None:
    """Insert by one statement, with an array for each column: PostgreSQL parses and plans it once."""
    arrays = [list(column) for column in zip(*rows, strict=True)]
    if not arrays:
        return
    kinds = [field.rel_db_type(connection) if field.is_relation else field.db_type(connection) for field in varying]
    letters = [f"c{number}" for number in range(len(varying))]
    same = ", ".join(f"%s::{field.db_type(connection)}" for field in fixed)
    each = ", ".join(f"{letter}::{kind}" for letter, kind in zip(letters, kinds, strict=True))
    sources = ", ".join("%s::text[]" if kind == "jsonb" else f"%s::{kind}[]" for kind in kinds)
    with connection.cursor() as cursor:
        cursor.execute(
            f"{into} SELECT {same}, {each} FROM unnest({sources}) AS given({', '.join(letters)}){ending}",  # noqa: S608  names of columns
            [*values, *arrays],
        )
