"""``manage.py worker``: run jobs from the database, without a broker."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections, connection
from django.utils import timezone

from jobs.registry import Lane
from jobs.services import jobs_run_due
from jobs.ticks import tick
from jobs.wakeups import watch
from jobs.work import STOPPING
from web.telemetry import telemetry_start

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Run due jobs and the periodic upkeep until told to stop."""

    help = (
        "Run background jobs from the database, without a message broker. Each lane (job queue) has its own "
        "thread, so long imports don't block quality jobs. You can run several workers at once. Example: "
        "manage.py worker"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--poll",
            type=float,
            default=5.0,
            metavar="SECONDS",
            help="longest pause between two checks for jobs when no notification arrives (default 5)",
        )
        parser.add_argument(
            "--tick",
            type=float,
            default=5.0,
            metavar="SECONDS",
            help="interval between runs of periodic tasks (default 5)",
        )
        parser.add_argument(
            "--lane",
            action="append",
            choices=[lane.value for lane in Lane],
            help="run only jobs of this lane; repeatable",
        )
        parser.add_argument("--once", action="store_true", help="run all due jobs and periodic tasks once, then exit")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run each lane and the upkeep in a separate thread until a signal arrives."""
        lanes = options["lane"] or [lane.value for lane in Lane]
        if options["once"]:
            while jobs_run_due(lanes=lanes):
                pass
            tick(now=timezone.now())
            return
        telemetry_start()
        wait_for_signal = _signals()
        sleepers = {lane: threading.Event() for lane in lanes}
        loops: dict[str, Callable[[], None]] = {
            lane: _lane(lane, sleeper, options["poll"]) for lane, sleeper in sleepers.items()
        }
        loops["ticks"] = _ticks(options["tick"])
        loops["wakeups"] = lambda: watch(STOPPING, sleepers.values())
        threads = [threading.Thread(target=_loop, args=(name, once), name=name) for name, once in loops.items()]
        for thread in threads:
            thread.start()
        wait_for_signal()
        STOPPING.set()
        for thread in threads:
            thread.join()


def _signals() -> Callable[[], None]:
    """Return a function that waits for a signal to stop.

    A handler must not set an event itself: a second signal in the middle of that would wait for itself.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        os.read(told, 1)

    return wait


FIRST_PAUSE_SECONDS = 0.2  # doubled with each look that finds nothing


def _lane(lane: str, sleeper: threading.Event, longest: float) -> Callable[[], None]:
    pause = FIRST_PAUSE_SECONDS

    def run() -> None:
        nonlocal pause
        sleeper.clear()  # before the look, so that no word of what comes after it is lost
        if STOPPING.is_set():  # the last wake-up may have come just before
            return
        if jobs_run_due(limit=1, lanes=[lane]):
            pause = FIRST_PAUSE_SECONDS
            return
        was_woken = sleeper.wait(min(pause, longest))
        pause = FIRST_PAUSE_SECONDS if was_woken else min(2 * pause, longest)

    return run


def _ticks(seconds: float) -> Callable[[], None]:
    def run() -> None:
        tick(now=timezone.now())
        STOPPING.wait(seconds)

    return run


PAUSE_SECONDS = 2.0


def _loop(name: str, once: Callable[[], None]) -> None:
    """Call a function repeatedly; errors don't end the loop."""
    while not STOPPING.is_set():
        try:
            close_old_connections()
            once()
        except Exception:
            logger.exception("%s goes on in %.0f seconds", name, PAUSE_SECONDS)
            connection.close()
            STOPPING.wait(PAUSE_SECONDS)
    connection.close()
