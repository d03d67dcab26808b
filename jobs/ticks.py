"""Small periodic upkeep that other apps register: sweeps that find rows which are due."""

import logging
from collections.abc import Callable
from datetime import datetime

logger = logging.getLogger(__name__)

Sweep = Callable[[datetime], object]
_SWEEPS: list[Sweep] = []


def on_tick(sweep: Sweep) -> Sweep:
    """Register a function that is called every few seconds; it must be cheap when nothing is due."""
    _SWEEPS.append(sweep)
    return sweep


def tick(*, now: datetime) -> None:
    """Run every sweep; one that fails does not keep the others from running."""
    for sweep in _SWEEPS:
        try:
            sweep(now)
        except Exception:
            logger.exception("sweep %s failed", sweep.__name__)
