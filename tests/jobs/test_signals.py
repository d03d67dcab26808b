"""A worker that is told to stop several times at once stops."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.jobs.test_kill import migrated
from tests.waiting import wait_for

pytestmark = pytest.mark.on_sqlite
TIMES, PROCESSES = 300, 4


def is_listening(pid):
    """Return whether a process has a handler for SIGTERM."""
    caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[1]
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def test_signals_that_come_close_together_hold_up_no_worker(tmp_path):
    environment = migrated(tmp_path, "signals.sqlite3")
    command = [sys.executable, "manage.py", "worker", "--tick", "0.5"]
    workers = [subprocess.Popen(command, env=environment, cwd=ROOT) for _ in range(PROCESSES)]
    try:
        for worker in workers:
            wait_for(lambda worker=worker: is_listening(worker.pid))
        for _ in range(TIMES):
            for worker in workers:
                worker.terminate()
        # One more signal may come when the interpreter has put its handlers away.
        assert {worker.wait(timeout=60) for worker in workers} <= {0, -signal.SIGTERM}
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
