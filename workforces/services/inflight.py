"""Several calls to a marketplace at once, within a time limit."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Generic, TypeVar

from django.db import connection

T = TypeVar("T")


def run_in_flight(tasks: Iterator[T], do: Callable[[T], object], *, calls: int, seconds: float) -> bool:
    """Run tasks concurrently, ``calls`` at a time; return whether all were started before the time was over.

    The threads take tasks one after another. After the first error, no more tasks are taken; the error is raised
    when the started tasks have ended.
    """
    first = list(islice(tasks, min(calls, 2)))
    drawing = _Drawing(chain(first, tasks), time.monotonic() + seconds)
    beside = range(1, calls) if len(first) > 1 else ()  # mostly there is nothing to do, or one thing
    threads = [threading.Thread(target=drawing.run, args=(do,), name=f"in-flight-{n}") for n in beside]
    for thread in threads:
        thread.start()
    drawing.work(do)
    for thread in threads:
        thread.join()
    if drawing.error is not None:
        raise drawing.error
    return drawing.is_drained


class _Drawing(Generic[T]):
    """Tasks that several threads take one after another."""

    def __init__(self, tasks: Iterator[T], until: float) -> None:
        self._tasks = tasks
        self._until = until
        self._lock = threading.Lock()
        self.error: Exception | None = None
        self.is_drained = False

    def _drawn(self) -> Iterator[T]:
        while True:
            with self._lock:
                if self.error is not None or self.is_drained or time.monotonic() >= self._until:
                    return
                try:
                    task = next(self._tasks)
                except StopIteration:
                    self.is_drained = True
                    return
            yield task

    def work(self, do: Callable[[T], object]) -> None:
        """Run tasks until none is left, the time is over, or one failed."""
        try:
            for task in self._drawn():
                do(task)
        except Exception as error:  # noqa: BLE001  raised by `run_in_flight`, in the caller's thread
            self.error = self.error or error

    def run(self, do: Callable[[T], object]) -> None:
        """Run tasks in a separate thread with its own database connection."""
        try:
            self.work(do)
        finally:
            connection.close()
