"""Background work without a request: due events and queued notifications."""

import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import close_old_connections

from marketplace import clock
from marketplace.services.delivery import deliveries_send
from marketplace.services.due import due_carry_out

_LOG = logging.getLogger(__name__)
_DELIVERY_THREADS = 4


def sweep() -> tuple[int, int]:
    """Apply all due events and send all queued messages; return the number of steps and messages."""
    return due_carry_out(now=clock.now()), deliveries_send(clock=clock.now)


def sweep_in_background() -> list[threading.Thread]:
    """Sweep in threads of this process until it ends, separately for messages: slow receivers don't delay deadlines."""
    loops: list[Callable[[], object]] = [lambda: due_carry_out(now=clock.now(), most=1000)]
    loops += [lambda: deliveries_send(clock=clock.now)] * _DELIVERY_THREADS
    threads = [threading.Thread(target=_for_ever, args=(loop,), name="sweep", daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    return threads


def _for_ever(loop: Callable[[], object]) -> None:
    pause = threading.Event()
    while True:
        try:
            loop()
        except Exception:  # noqa: BLE001 - one failure must not end the sweep
            _LOG.exception("the sweep stumbled; it goes on")
        finally:
            close_old_connections()
        pause.wait(settings.MARKETPLACE_SWEEP_SECONDS)
