"""Metrics for Prometheus: what all processes of a service counted, and what each scrape reads from the database.

`QUORATE_METRICS_TOKEN` turns them on. Without it nothing is counted, and ``/metrics`` is 404. The processes count in
files in `QUORATE_METRICS_DIR`, one for each process (the library's multiprocess mode).
"""

import fcntl
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.core.signals import got_request_exception
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from storage.backups import last_backup

logger = logging.getLogger(__name__)
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_JOB_BUCKETS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0)
_MAKING = threading.Lock()
_DEAD = 0  # the process id in the name of the files that hold the counts of ended processes


def _library() -> Any:
    """Return prometheus_client, set up for several processes. It decides on its mode when first imported."""
    folder = Path(settings.METRICS_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    return import_module("prometheus_client")


class _Metric:
    """A metric of the library's that is made on first use, once."""

    kind = ""

    def __init__(self, name: str, text: str, *labels: str, **options: Any) -> None:
        self._arguments, self._options = (name, text, labels), options
        self._made: Any = None

    def _record(self, method: str, value: float, labels: tuple[str, ...]) -> None:
        """Record a value if metrics are on; a folder that can't be written never makes an answer fail."""
        if not settings.METRICS_TOKEN:
            return
        try:
            if self._made is None:
                with _MAKING:
                    self._made = self._made or getattr(_library(), self.kind)(*self._arguments, **self._options)
            getattr(self._made.labels(*labels) if labels else self._made, method)(value)
        except OSError as error:
            logger.warning("metrics can't be written to %s: %s", settings.METRICS_DIR, error)


class Count(_Metric):
    """A counter; its name gets the suffix ``_total``."""

    kind = "Counter"

    def add(self, *labels: str, by: int = 1) -> None:
        """Count; there is one value for each label of the metric."""
        self._record("inc", by, labels)


class Times(_Metric):
    """A histogram of durations, in seconds."""

    kind = "Histogram"

    def observe(self, seconds: float, *labels: str) -> None:
        """Add one duration."""
        self._record("observe", seconds, labels)


REQUEST_SECONDS = Times(
    "quorate_request_seconds", "Time until a response was ready, by group of routes", "group", buckets=_BUCKETS
)
RESPONSES = Count("quorate_responses", "Responses by group of routes and class of status", "group", "status")
ERRORS = Count("quorate_errors", "Requests that failed, by cause: the database, or another", "cause")
BROKER_FAILURES = Count("quorate_broker_failures", "Messages that the broker didn't take")
ANSWERS = Count("quorate_answers", "Answers that annotators submitted", "task_type")
CLAIMS = Count("quorate_claims", "Requests for an item, by what came of them", "result")
PAID_CENTS = Count("quorate_paid_cents", "Cents paid to annotators, without fees, by kind of payment", "kind")
JOBS = Count("quorate_jobs", "Attempts of jobs, by lane and how they ended", "lane", "state")
JOB_SECONDS = Times("quorate_job_seconds", "Duration of an attempt of a job", "lane", buckets=_JOB_BUCKETS)


def count_errors() -> None:
    """Count the requests that fail from now on."""
    got_request_exception.connect(_count_error, dispatch_uid="web.metrics")


def _count_error(sender: object, **_others: Any) -> None:
    error = sys.exc_info()[1]
    ERRORS.add("database" if isinstance(error, DatabaseError) else "other")


class Reading(NamedTuple):
    """A value that is read at each scrape."""

    name: str
    text: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


Readings = Callable[[datetime], Iterable[Reading]]


def metrics_response(request: HttpRequest, readings: Readings, now: datetime) -> HttpResponse:
    """Answer a scrape in Prometheus's text format.

    Raises
    ------
    Http404
        Metrics are off, or the request doesn't have their token.
    """
    token = settings.METRICS_TOKEN
    if not token or not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        raise Http404
    library = _library()
    _fold_ended(Path(settings.METRICS_DIR))
    registry = library.CollectorRegistry()
    import_module("prometheus_client.multiprocess").MultiProcessCollector(registry, path=settings.METRICS_DIR)
    registry.register(_Collected(list(_read(readings, now))))
    return HttpResponse(library.generate_latest(registry), content_type=library.CONTENT_TYPE_LATEST)


def machine_readings() -> Iterator[Reading]:
    """Yield the free disk space, and the age of the newest backup if its folder is known."""
    yield Reading("quorate_disk_free_bytes", "Free disk space", shutil.disk_usage(settings.DATA_DIR).free)
    if settings.BACKUPS_DIR:
        last = last_backup(Path(settings.BACKUPS_DIR), settings.BACKUP_NAME)
        yield Reading("quorate_backup_seconds", "Age of the newest backup", time.time() - (last or 0))


def _read(readings: Readings, now: datetime) -> Iterator[Reading]:
    """Yield the readings, and whether the database responded."""
    is_up = True
    try:
        yield from list(readings(now))
    except DatabaseError:
        is_up = False
    yield Reading("quorate_database_up", "Whether the database responds", float(is_up))


class _Collected:
    """Readings as a collector of the library's."""

    def __init__(self, readings: list[Reading]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Any]:
        """Yield one family for each name."""
        families: dict[str, Any] = {}
        family_of = import_module("prometheus_client.core").GaugeMetricFamily
        for name, text, value, labels in self._readings:
            if name not in families:
                families[name] = family_of(name, text, labels=[key for key, _ in labels])
            families[name].add_metric([value_ for _, value_ in labels], value)
        yield from families.values()


def _fold_ended(folder: Path) -> None:
    """Add the counts of ended processes to one file for each kind, so that restarts don't fill the folder.

    If this is interrupted between two files, one process may be counted twice; Prometheus shows a jump.
    """
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in sorted(folder.glob("*.db")):
            kind, _, number = path.stem.rpartition("_")
            if int(number) != _DEAD and not _is_running(int(number)):
                if path.stat().st_size:
                    _add_values(path, folder / f"{kind}_{_DEAD}.db")
                path.unlink()


def _add_values(source: Path, target: Path) -> None:
    mapped = import_module("prometheus_client.mmap_dict").MmapedDict
    old, new = mapped(str(source), read_mode=True), mapped(str(target))
    try:
        for key, value, stamp in old.read_all_values():
            new.write_value(key, new.read_value(key)[0] + value, stamp)
    finally:
        old.close()
        new.close()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        return True
    return True
