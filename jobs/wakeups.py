"""Notify workers of new jobs, so that they can wait instead of polling.

PostgreSQL sends the notification to every machine (NOTIFY). With SQLite all processes are on one machine, and the
time stamp of a file beside the database serves as notification. Since one may be lost, workers also poll occasionally.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

CHANNEL = "quorate_jobs"
LOOK_SECONDS = 0.1  # between two looks at the time stamp of a file
LISTEN_SECONDS = 0.5  # until a worker that listens asks whether it was told to stop


def workers_wake() -> None:
    """Notify the workers of a due job. Call it after the commit; it never raises."""
    try:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"NOTIFY {CHANNEL}")
        else:
            _file().touch()
    except (DatabaseError, OSError):
        logger.warning("the workers could not be told of a job; they will find it", exc_info=True)


def watch(stopping: threading.Event, sleepers: Iterable[threading.Event]) -> None:
    """Wake waiting threads at each notification until told to stop; then wake them a last time.

    Raises
    ------
    DatabaseError
        Listening to the database failed.
    """

    def wake() -> None:
        for sleeper in sleepers:
            sleeper.set()

    try:
        if connection.vendor == "postgresql":
            _listen(stopping, wake)
        else:
            _look(stopping, wake)
    finally:
        wake()


def _listen(stopping: threading.Event, wake: Callable[[], None]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"LISTEN {CHANNEL}")
    wake()  # for what was said before
    while not stopping.is_set():
        for _ in connection.connection.notifies(timeout=LISTEN_SECONDS):
            wake()


def _look(stopping: threading.Event, wake: Callable[[], None]) -> None:
    path, seen = _file(), 0
    while not stopping.wait(LOOK_SECONDS):
        stamp = path.stat().st_mtime_ns if path.exists() else 0
        if stamp != seen:
            seen = stamp
            wake()


def _file() -> Path:
    return Path(f"{connection.settings_dict['NAME']}-jobs")
