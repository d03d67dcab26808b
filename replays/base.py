"""The parts shared by all replays: the request, the state for resuming, and the progress."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.db import connection

from replays.ensemble import Ensemble, Ports
from replays.terminals import Say


@dataclass(frozen=True)
class Asked:
    """The request for a replay: the paper, the size, the seed, and the maximum duration.

    ``scale``: 1 is the size of the paper.
    """

    kind: str
    scale: float
    seed: int
    seconds: float

    @property
    def slug(self) -> str:
        """The short name of its campaign."""
        return f"replay-{self.kind}-{self.scale:g}-{self.seed}".replace(".", "-").replace("+", "")

    def count(self, whole: int, least: int = 1) -> int:
        """Return one of the paper's numbers at this scale."""
        return max(least, round(whole * self.scale))


@dataclass
class State:
    """The state of a replay, stored on disk after every step, so that it can be interrupted at any moment."""

    path: Path
    ports: Ports = field(default_factory=Ports)
    done: dict[str, Any] = field(default_factory=dict)  # by step: what is to be known of it later
    seconds: dict[str, float] = field(default_factory=dict)  # by phase
    cpu: dict[str, float] = field(default_factory=dict)  # by process
    counts: dict[str, float] = field(default_factory=dict)
    attempts: int = 0

    @classmethod
    def of(cls, asked: Asked) -> "State":
        """Return the stored state of a replay, or a new one, after counting this attempt."""
        path = Path(settings.DATA_DIR) / "replays" / f"{asked.slug}.json"
        found = cls(path)
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            found = cls(path, Ports(**kept.pop("ports")), **kept)
        found.attempts += 1
        found.save()
        return found

    def save(self) -> None:
        """Store the state on disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        kept = {**asdict(self), "ports": asdict(self.ports)}
        del kept["path"]
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(self.path)

    def once(self, step: str, act: Callable[[], Any]) -> Any:
        """Do a step unless it was done before; return its stored result (JSON)."""
        if step not in self.done:
            self.done[step] = act()
            self.save()
        return self.done[step]

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the duration of a phase, over all attempts."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begun
            self.save()

    @contextmanager
    def measuring(self, services: Ensemble) -> Iterator[None]:
        """Add the CPU time of every process, over all attempts that weren't killed."""
        before = time.process_time()
        try:
            yield
        finally:
            used = services.cpu_seconds() | {"crowd, manager, expert": time.process_time() - before}
            for name, seconds in used.items():
                self.cpu[name] = self.cpu.get(name, 0.0) + seconds
            self.save()

    def add(self, counts: dict[str, float]) -> None:
        """Add to the counters over all attempts."""
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


class Progress:
    """The progress of a phase and its remaining time, printed at most every few seconds."""

    def __init__(self, say: Say, what: str, total: int, every: float = 20.0) -> None:
        self.say, self.what, self.total, self.every = say, what, total, every
        self._begun = self._said = time.monotonic()
        self._first: int | None = None

    def show(self, done: int) -> None:
        """Print the progress."""
        now = time.monotonic()
        if self._first is None:
            self._first = done
        if now - self._said < self.every:
            return
        self._said = now
        rate = (done - self._first) / (now - self._begun)
        left = f", {(self.total - done) / rate / 60:.0f} minutes left" if rate > 0 else ""
        self.say(f"{done:,} of {self.total:,} {self.what}{left}")


class Replay(Protocol):
    """The replay of one paper's collection, from an empty database to a released dataset and a report."""

    def __call__(self, asked: Asked, state: State, say: Say) -> dict[str, Any]:
        """Run the replay, or continue it; return the report's figures."""


def machine() -> dict[str, Any]:
    """Return the machine and software on which the figures were measured."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "database": connection.vendor,
        "system": platform.system(),
    }
