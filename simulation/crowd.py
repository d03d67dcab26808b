"""Thousands of people in one process, each with a simulated clock for arrivals, durations and returns.

Nobody waits in real time: the crowd's clock jumps from one person's next action to the following one. The order and the
distances of events on that clock (days, sessions, people working at once) are kept; servers see all events as fast as
they can handle them.
"""

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from simulation.browser import connections_close
from simulation.doors.market import Outcome
from simulation.people import Person
from simulation.world import chance_of

DAY = 86_400.0
# How many of a crowd come in each hour of a day; people of several time zones.
HOURS = np.array([2, 1, 1, 1, 1, 2, 3, 5, 7, 8, 9, 9, 8, 8, 9, 9, 8, 8, 9, 10, 10, 8, 6, 4], dtype=float)
LOOK_AGAIN, EVER_LATER = (
    600.0,
    4.0,
)  # wait after finding no work, by their own clock; how many times longer each next one
# Real time between two looks while no one finds work: it grows, so that an idle crowd leaves servers alone.
IDLE_SECONDS, MOST_IDLE_SECONDS = 0.2, 1.0  # once all of them looked and found none; at most
MOST_UNREACHABLE, UNREACHABLE_SECONDS = 60, 0.25  # answers of a server that did not come, in a row; between two of them


class Worker(Protocol):
    """A person of the crowd, who works through one of the doors."""

    person: Person

    @property
    def seconds(self) -> float:
        """The seconds that this person has worked, by the simulated clock."""

    def log_in(self) -> None:
        """Log in where the work is."""

    def work(self) -> Outcome:
        """Do one piece of work."""


@dataclass(order=True)
class _Due:
    at: float  # by the crowd's clock
    number: int
    worker: Worker = field(compare=False)
    left: int = field(compare=False)  # pieces of work in this sitting
    misses: int = field(compare=False, default=0)  # looks in a row that found nothing
    is_in: bool = field(compare=False, default=False)


class Crowd:
    """A crowd that works in some threads until it is stopped.

    Parameters
    ----------
    sitting
        How many pieces of work an average person does before a pause.
    """

    def __init__(self, workers: Sequence[Worker], *, seed: int, threads: int = 8, sitting: float = 30.0) -> None:
        self._chance = chance_of(seed, "crowd")
        self._sitting, self._threads = sitting, threads
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._due = [_Due(self._arrival(0.0), number, worker, 0) for number, worker in enumerate(workers)]
        for due in self._due:
            due.left = self._sits(due.worker)
        heapq.heapify(self._due)
        self._running: list[threading.Thread] = []
        self._people, self._misses, self._quiet_until = len(workers), 0, 0.0
        self.outcomes: Counter[Outcome] = Counter()
        self.clock, self.unreachable, self._silent = 0.0, 0, 0
        self.errors: list[BaseException] = []

    def start(self) -> None:
        """Start the crowd."""
        self._stop.clear()
        self._running = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads)]
        for thread in self._running:
            thread.start()

    def stop(self, seconds: float = 120.0) -> None:
        """Let all people finish their current action, then stop; raise the first error.

        Raises
        ------
        BaseException
            The first error of a worker that isn't part of ordinary work.
        """
        self._stop.set()
        for thread in self._running:
            thread.join(seconds)
        if self.errors:
            raise self.errors[0]

    def run(self, until: Callable[[], bool], *, seconds: float, look_every: float = 0.5) -> bool:
        """Let the crowd work until a condition holds or the time is over; return whether the condition holds.

        A person may undo an answer at the very end. So the condition is checked again after all have stopped, and they
        continue if it doesn't hold anymore.
        """
        deadline = time.monotonic() + seconds
        while True:
            self.start()
            try:
                while not until() and time.monotonic() < deadline and not self.errors:
                    time.sleep(look_every)
            finally:
                self.stop()
            if (is_done := until()) or time.monotonic() >= deadline:
                return is_done

    @property
    def days(self) -> float:
        """The number of days that have passed by the crowd's clock."""
        return self.clock / DAY

    def _arrival(self, after: float) -> float:
        """Return a time of arrival within the day that begins at ``after``, drawn with the shares of ``HOURS``."""
        hour = int(self._chance.choice(24, p=HOURS / HOURS.sum()))
        return after + 3600 * (hour + float(self._chance.random()))

    def _sits(self, worker: Worker) -> int:
        """Return the number of pieces of work in a person's session; people who do more in total have longer ones."""
        return 1 + int(self._chance.geometric(min(1.0, 1 / (1 + self._sitting * worker.person.load))))

    def _work(self) -> None:
        try:
            self._work_on()
        finally:
            connections_close()

    def _work_on(self) -> None:
        while not self._stop.is_set():
            due = self._next()
            if due is None:
                self._stop.wait(0.05)
                continue
            try:
                outcome = self._one(due)
            except OSError as error:  # a server that is down may come back: people look again
                outcome = Outcome.NOTHING
                if self._is_lost(error):
                    return
            except BaseException as error:  # noqa: BLE001  kept, and raised where the crowd is stopped
                self.errors.append(error)
                self._stop.set()
                return
            self._again(due, outcome)

    def _is_lost(self, error: OSError) -> bool:
        """Record that a server didn't respond; return whether this happened too often."""
        self._stop.wait(UNREACHABLE_SECONDS)
        with self._lock:
            self.unreachable += 1
            self._silent += 1
            if self._silent < MOST_UNREACHABLE:
                return False
            self.errors.append(error)
            self._stop.set()
            return True

    def _next(self) -> _Due | None:
        with self._lock:
            if not self._due or time.monotonic() < self._quiet_until:
                return None
            return heapq.heappop(self._due)

    def _one(self, due: _Due) -> Outcome:
        if not due.is_in:
            due.worker.log_in()
            due.is_in = True
        before = due.worker.seconds
        outcome = due.worker.work()
        due.at += max(1.0, due.worker.seconds - before)
        return outcome

    def _again(self, due: _Due, outcome: Outcome) -> None:
        with self._lock:
            self.outcomes[outcome] += 1
            self.clock = max(self.clock, due.at)
            if outcome is Outcome.NOTHING:
                self._misses += 1
                pause = min(IDLE_SECONDS * self._misses / self._people, MOST_IDLE_SECONDS)
                self._quiet_until = time.monotonic() + pause
                due.at += LOOK_AGAIN * EVER_LATER ** min(due.misses, 4)
                due.misses += 1
            else:
                self._misses, self._quiet_until, due.misses, self._silent = 0, 0.0, 0, 0
                due.left -= 1
            if due.left <= 0:
                due.worker.person.rested()
                due.left = self._sits(due.worker)
                due.at = self._arrival(due.at + float(self._chance.uniform(0.2, 1.2)) * DAY)
            heapq.heappush(self._due, due)
