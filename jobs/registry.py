"""The kinds of jobs and the sweeps that the apps list in their ``tasks.py``."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from jobs.work import Work

Handler = Callable[[Work], dict[str, Any]]
Sweep = Callable[[datetime], object]


class Lane(StrEnum):
    """A queue of jobs that no other lane can hold up."""

    UPKEEP = "upkeep"  # short: what people wait for within seconds
    BULK = "bulk"  # long: imports, launches, releases
    MARKETPLACE = "marketplace"  # whatever talks to a marketplace


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job: its name, the function that does it and returns its result, its lane, and what is cleaned after it.

    ``clean`` is called when the job is done, and a month after it failed; calling it again changes nothing.
    """

    name: str
    run: Handler
    lane: Lane
    clean: Callable[[Mapping[str, Any]], object] | None = None  # gets the payload
    action: str = "manage"  # what a person must be allowed to do to see, stop or repeat one that they asked for


KINDS: dict[str, JobKind] = {}
SWEEPS: list[Sweep] = []


def load(apps: Iterable[str]) -> None:
    """Collect ``JOBS`` and ``SWEEPS`` of every app that has a module ``tasks``."""
    for app in apps:
        if find_spec(f"{app}.tasks") is None:
            continue
        tasks = import_module(f"{app}.tasks")
        KINDS.update({kind.name: kind for kind in getattr(tasks, "JOBS", ())})
        SWEEPS.extend(sweep for sweep in getattr(tasks, "SWEEPS", ()) if sweep not in SWEEPS)


def kind_named(name: str) -> JobKind:
    """Return a kind of job.

    Raises
    ------
    KeyError
        No app lists it.
    """
    try:
        return KINDS[name]
    except KeyError:
        raise KeyError(f"no app lists jobs of kind {name!r}") from None
