"""The tick: it runs sweeps that find due rows, unless the clock has just jumped."""

import logging
import time
from datetime import datetime, timedelta

from jobs.models import Heartbeat
from jobs.registry import sweeps

logger = logging.getLogger(__name__)

# A wall clock that differs from the steady one by so much between two ticks has jumped.
JUMP_SECONDS = 60.0
# How long nothing is ended by deadline after a jump: a wrong clock is mostly put right within minutes.
SETTLE_SECONDS = 300.0


class Clock:
    """Compares the wall clock with the monotonic clock at each tick."""

    def __init__(self) -> None:
        self._wall: datetime | None = None
        self._steady = 0.0
        self._settled_at = 0.0

    def is_settled(self, now: datetime, steady: float) -> bool:
        """Return whether the wall clock is reliable, that is, hasn't jumped recently."""
        if self._wall is not None:
            jump = now - self._wall - timedelta(seconds=steady - self._steady)
            if abs(jump.total_seconds()) > JUMP_SECONDS:
                logger.warning("the clock jumped by %s; sweeps wait for %d seconds", jump, SETTLE_SECONDS)
                self._settled_at = steady + SETTLE_SECONDS
        self._wall, self._steady = now, steady
        return steady >= self._settled_at


_CLOCK = Clock()
TICK = "tick"  # the heartbeat that shows that a worker is there


def tick(*, now: datetime, steady: float | None = None, clock: Clock = _CLOCK) -> bool:
    """Run every sweep, even if another one fails; return whether the sweeps ran."""
    if not clock.is_settled(now, time.monotonic() if steady is None else steady):
        return False
    Heartbeat.objects.update_or_create(name=TICK, defaults={"at": now})
    for sweep in sweeps():
        try:
            sweep(now)
        except Exception:
            logger.exception("sweep %s failed", getattr(sweep, "__name__", sweep))
    return True
