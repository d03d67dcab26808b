"""Child processes: with limits, for reading untrusted files; and children that end with their parent.

A file made to exhaust memory only ends its child process, which is replaced.
The children with limits don't import Django and inherit no environment variables.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
_ROOT = Path(__file__).resolve().parents[1]


def child_start(
    module: str,
    *arguments: str,
    stdin: IO[bytes] | int = subprocess.PIPE,
    stderr: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Run one of our modules in a child process, which first sets its own limits."""
    return subprocess.Popen(  # noqa: S603  our own interpreter and module
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=_ROOT,
        env={"PATH": "", "PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": "0"},
    )


def child_end(child: subprocess.Popen[bytes]) -> None:
    """End a child and close its pipes."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def limit_memory(most: int) -> None:
    """Limit the memory of this process to this number of bytes."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def end_with(parent: int) -> None:
    """Ask Linux to end this process when its parent dies, however that happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we asked
            os.kill(os.getpid(), signal.SIGTERM)
