"""Answers that wait for a change. Each holds a thread, so a process waits for a few of them only."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

MOST_WAIT, LOOK_SECONDS = 25, 0.5
AT_ONCE = 3  # of a process, which has eight threads
_PLACES = threading.BoundedSemaphore(AT_ONCE)
T = TypeVar("T")


def changes(look: Callable[[], T], seconds: float, *, is_news: Callable[[T], bool] = bool) -> T:
    """Return what a look gives once it is news, or after some seconds; at once if too many others wait already."""
    found = look()
    if seconds <= 0 or is_news(found) or not _PLACES.acquire(blocking=False):
        return found
    try:
        until = time.monotonic() + seconds
        while not is_news(found) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
            found = look()
        return found
    finally:
        _PLACES.release()
