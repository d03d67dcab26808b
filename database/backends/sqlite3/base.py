"""An SQLite backend whose writers wait in a queue.

SQLite lets one writer in at a time. A waiting writer sleeps and retries, at growing intervals: with eight at work, some
wait for seconds while others overtake them. Here each writer waits in the kernel's queue for a lock on a file beside
the database, across threads and processes, and is woken when it is free. This lock only sets the order. SQLite's own
lock still decides, so a writer that doesn't use the queue does no harm. The lock ends with the process that holds it.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base

_WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE)\b", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def _with_marks(query: str) -> str:
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class QueuedCursor(base.SQLiteCursorWrapper):
    """A cursor whose single writes, outside of a transaction, wait in the queue too."""

    wrapper: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        """Run a statement."""
        if self.wrapper.in_atomic_block or not _WRITES.match(query):
            return super().execute(query, params)
        with self.wrapper.in_line():
            return super().execute(query, params)

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        """Return a statement with the placeholders of SQLite, from a cache of recent statements."""
        return super().convert_query(query, param_names=param_names) if param_names else _with_marks(query)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that waits in the queue before it writes."""

    _line: int | None = None  # the file that the queue is for, once it was needed
    _is_first = False

    def create_cursor(self, name: str | None = None) -> QueuedCursor:
        """Return a cursor that knows its connection."""
        cursor: QueuedCursor = self.connection.cursor(factory=QueuedCursor)
        cursor.wrapper = self
        return cursor

    def prepared_cursor(self) -> Any:
        """Return a cursor for a statement that will run again: SQLite's cache keeps every statement."""
        return self.cursor()

    @contextmanager
    def in_line(self) -> Iterator[None]:
        """Wait until it is this connection's turn to write, and release the lock at the end."""
        self._wait()
        try:
            yield
        finally:
            self._give_way()

    def _wait(self) -> None:
        if self._is_first or self.is_in_memory_db():
            return
        if self._line is None:
            path = f"{self.settings_dict['NAME']}-line"
            self._line = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._line, fcntl.LOCK_EX)
        self._is_first = True

    def _give_way(self) -> None:
        if self._is_first and self._line is not None:
            self._is_first = False
            fcntl.flock(self._line, fcntl.LOCK_UN)

    def _start_transaction_under_autocommit(self) -> None:
        self._wait()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._give_way()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            if not self.connection or not self.connection.in_transaction:  # a failed commit is rolled back by Django
                self._give_way()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._give_way()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._give_way()
            if self._line is not None:
                os.close(self._line)
                self._line = None
