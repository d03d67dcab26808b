"""The kinds of jobs and the sweeps that the apps list in their ``tasks.py``."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from jobs.work import Work

Handler = Callable[[Work], dict[str, Any]]
Sweep = Callable[[datetime], object]


class Lane(StrEnum):
    """A queue of jobs that other lanes can't block."""

    UPKEEP = "upkeep"  # short: what people wait for within seconds
    BULK = "bulk"  # long: imports, launches, releases
    MARKETPLACE = "marketplace"  # whatever talks to a marketplace or a mail server


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job: its name, its lane, the function that runs it and returns the result, and its cleanup.

    ``clean`` is called when the job is done, or a month after it failed. Calling it again has no effect.
    """

    name: str
    run: Handler
    lane: Lane
    clean: Callable[[Mapping[str, Any]], object] | None = None  # gets the payload
    action: str = "manage"  # what a person must be allowed to do to see, stop or repeat one that they asked for


@cache
def kinds() -> dict[str, JobKind]:
    """Return the apps' ``JOBS`` (in their ``tasks.py``) by name; they are imported on the first call."""
    return {kind.name: kind for tasks in _tasks() for kind in getattr(tasks, "JOBS", ())}


@cache
def sweeps() -> list[Sweep]:
    """Return the apps' ``SWEEPS`` (in their ``tasks.py``); they are imported on the first call."""
    return [sweep for tasks in _tasks() for sweep in getattr(tasks, "SWEEPS", ())]


def _tasks() -> Iterator[ModuleType]:
    for config in apps.get_app_configs():
        if module_has_submodule(config.module, "tasks"):
            yield import_module(f"{config.name}.tasks")


def kind_named(name: str) -> JobKind:
    """Return a kind of job.

    Raises
    ------
    KeyError
        No app lists this kind.
    """
    try:
        return kinds()[name]
    except KeyError:
        raise KeyError(f"no app lists jobs of kind {name!r}") from None
