"""A PostgreSQL backend that has the server prepare the statements that are compiled once.

Django sends each statement with its values written into it, so the server parses and plans it each time. The compiled
ones (`database.statements`) are prepared at their first run on a connection and then sent by name.
"""

from typing import Any

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations


class PreparedCursor(psycopg.Cursor[Any]):
    """A cursor that prepares what it runs, and sends values apart from their statement."""

    def execute(self, query: Any, params: Any = None, **_: Any) -> "PreparedCursor":
        """Run a statement."""
        return super().execute(query, params, prepare=True)


class Operations(DatabaseOperations):
    """What is said of statements when they are logged."""

    def last_executed_query(self, cursor: Any, sql: Any, params: Any) -> Any:
        """Return a statement with its values, which a prepared one is sent without."""
        if isinstance(cursor, PreparedCursor):
            return self.compose_sql(sql, params)
        return super().last_executed_query(cursor, sql, params)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection with two kinds of cursors."""

    ops_class = Operations

    def prepared_cursor(self) -> Any:
        """Return a cursor for a statement that will run again."""
        self.ensure_connection()
        usual = self.connection.cursor_factory
        self.connection.cursor_factory = PreparedCursor
        try:
            return self.cursor()
        finally:
            self.connection.cursor_factory = usual

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that keeps as many prepared statements as there are."""
        connection = super().get_new_connection(conn_params)
        connection.prepared_max = MOST_PREPARED
        return connection


MOST_PREPARED = 500  # of one connection: a statement is prepared for each combination of types of its values
