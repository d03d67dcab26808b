"""Token buckets: a rate limit per key, counted in this process."""

import threading
import time
from collections import OrderedDict

_MOST_KEYS = 10_000


class Buckets:
    """A bucket of ``rate`` × ``burst_seconds`` tokens per key, refilled with ``rate`` tokens per second."""

    def __init__(self, *, burst_seconds: float = 2.0) -> None:
        self._burst_seconds = burst_seconds
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, *, rate: float, at: float | None = None) -> bool:
        """Take a token; return False if the bucket is empty."""
        now = time.monotonic() if at is None else at
        most = max(rate * self._burst_seconds, 1.0)
        with self._lock:
            level, seen = self._levels.pop(key, (most, now))
            level = min(most, level + (now - seen) * rate)
            allowed = level >= 1
            self._levels[key] = (level - 1 if allowed else level, now)
            while len(self._levels) > _MOST_KEYS:
                self._levels.popitem(last=False)
        return allowed
