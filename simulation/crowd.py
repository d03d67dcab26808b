"""Thousands of people in one process, each by their own clock: who comes when, works how long, and comes again.

Nobody waits as long as people do: the crowd's clock jumps from one who is due to the next. What is true of time by that
clock (days, sessions, who works beside whom) is kept; servers see everything happen as fast as they can.
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
    """A person of the crowd, at one of the doors."""

    person: Person

    @property
    def seconds(self) -> float:
        """How long they have been at it by their own clock."""

    def log_in(self) -> None:
        """Come to where work is."""

    def work(self) -> Outcome:
        """Do one piece of it."""


@dataclass(order=True)
class _Due:
    at: float  # by the crowd's clock
    number: int
    worker: Worker = field(compare=False)
    left: int = field(compare=False)  # pieces of work in this sitting
    misses: int = field(compare=False, default=0)  # looks in a row that found nothing
    is_in: bool = field(compare=False, default=False)


class Crowd:
    """A crowd at work until it is told to stop, by some threads.

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
        """Let them come."""
        self._stop.clear()
        self._running = [threading.Thread(target=self._work, daemon=True) for _ in range(self._threads)]
        for thread in self._running:
            thread.start()

    def stop(self, seconds: float = 120.0) -> None:
        """Let all of them finish what they are doing, then end; raise what went wrong.

        Raises
        ------
        BaseException
            The first error of a worker that is not part of ordinary work.
        """
        self._stop.set()
        for thread in self._running:
            thread.join(seconds)
        if self.errors:
            raise self.errors[0]

    def run(self, until: Callable[[], bool], *, seconds: float, look_every: float = 0.5) -> bool:
        """Let them work until a condition holds or time is up; return whether it held.

        Someone may take an answer back at the very end. So the condition is asked for again after all have stopped, and
        they go on if it holds no more.
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
        """How many days have passed by the crowd's clock."""
        return self.clock / DAY

    def _arrival(self, after: float) -> float:
        """Return when a person comes within the day that begins at ``after``, drawn by the hours of ``HOURS``."""
        hour = int(self._chance.choice(24, p=HOURS / HOURS.sum()))
        return after + 3600 * (hour + float(self._chance.random()))

    def _sits(self, worker: Worker) -> int:
        """Return how many pieces of work a person does in a sitting: who does more in all sits longer."""
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
        """Note that a server did not answer; return whether that was once too often."""
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
