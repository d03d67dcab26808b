"""What a command takes of memory, time and processor.

The peak is what the process says of itself at its end: what the system counts for a child (`ru_maxrss`) begins with the
memory of the process that started it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_START = """
import atexit, runpy, sys
atexit.register(lambda: sys.stderr.write(next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))))
sys.argv = sys.argv[1:]
sys.path[0] = ""
if sys.argv[0] == "-c":
    code, sys.argv = sys.argv[1], ["-c", *sys.argv[2:]]
    exec(code)
else:
    (runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module)(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command: exit status, what it printed to both streams, MiB at most, seconds by clock and CPU."""

    status: int
    said: str
    peak: int
    wall: float
    cpu: float


def run(*command: str | Path, environment: Mapping[str, str] | None = None) -> Ran:
    """Run ``manage.py …``, a module of Python, or ``-c CODE …``, in a process of its own."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _START, *map(str, command)],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    said, _, peak = process.stdout.read().rpartition("VmHWM:")
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    kib = int(peak.split()[0])
    return Ran(process.returncode, said, kib // 1024, time.perf_counter() - begun, usage.ru_utime + usage.ru_stime)
