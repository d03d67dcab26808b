"""Run a job from the command line, with the usual row, lease check and progress, shown on the terminal."""

import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from jobs.models import Job, JobState
from jobs.services import job_run_here
from storage.json_output import json_line


def prepare_database() -> None:
    """On a machine without services, create the tables in an empty database, as `serve` and `demo` do."""
    if settings.PREPARE_DATABASE and not connection.introspection.table_names():
        call_command("migrate", verbosity=0, interactive=False)


class Progress:
    """Show a job's progress on one line, at most five times a second."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._shown_at = 0.0

    def __call__(self, job: Job) -> None:
        """Show the job's progress."""
        if time.monotonic() - self._shown_at < 0.2:
            return
        self._shown_at = time.monotonic()
        of = f" of {job.total:,}" if job.total else ""
        end = "\r" if self._stream.isatty() else "\n"
        done = f"{job.done:,}{of}  " if job.done or job.total else ""
        self._stream.write(f"{done}{job.message}{end}")
        self._stream.flush()


def run_here(*, kind: str, payload: Mapping[str, Any], stderr: Any, scope_id: Any = None) -> Job:
    """Run a job in this process; raise `CommandError` with its error if it fails."""
    job = job_run_here(kind=kind, payload=payload, listener=Progress(stderr), scope_id=scope_id)
    if job.state != JobState.DONE:
        raise CommandError(job.error or "another process took the job over")
    return job


def print_result(stdout: Any, result: dict[str, Any], *, as_json: bool, summary: str) -> None:
    """Write a command's result: one JSON object, or a sentence."""
    stdout.write(json_line(result) if as_json else summary)
