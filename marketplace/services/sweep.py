"""What happens without anybody asking: due events, and notifications on their way."""

import logging
import threading
from datetime import datetime

from django.conf import settings
from django.db import close_old_connections

from marketplace import clock
from marketplace.services.delivery import deliveries_send
from marketplace.services.due import due_carry_out

_LOG = logging.getLogger(__name__)


def sweep(*, now: datetime) -> tuple[int, int]:
    """Carry out what is due and send what is queued; return how many of each."""
    return due_carry_out(now=now, most=1000), deliveries_send(now=now)


def sweep_in_background() -> threading.Thread:
    """Start sweeping in a thread of this process, for as long as the process lives."""
    thread = threading.Thread(target=_sweep_for_ever, name="sweep", daemon=True)
    thread.start()
    return thread


def _sweep_for_ever() -> None:
    pause = threading.Event()
    while True:
        try:
            sweep(now=clock.now())
        except Exception:  # noqa: BLE001 - one failure must not end the sweep
            _LOG.exception("the sweep stumbled; it goes on")
        finally:
            close_old_connections()
        pause.wait(settings.MARKETPLACE_SWEEP_SECONDS)
