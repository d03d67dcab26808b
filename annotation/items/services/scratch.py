"""Temporary tables for an import: in memory, and on disk when they are large."""

import sqlite3

_CACHE_KIB = 64 * 1024  # of a table that stays in memory


def scratch_table(columns: str) -> sqlite3.Connection:
    """Return a connection to a new temporary database with one table, in a transaction that is never committed.

    ``columns`` is the table's name with its columns, the first of them the primary key.
    """
    table = sqlite3.connect("", isolation_level=None)
    table.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    table.execute("PRAGMA journal_mode = OFF")
    table.execute(f"CREATE TABLE {columns} WITHOUT ROWID")
    table.execute("BEGIN")  # each statement would else be one
    return table
