"""Child processes with limits, for reading what others wrote.

A file that was made to fill memories costs its child, which is replaced, and nobody else.
The children import nothing of Django and inherit no environment.
"""

import resource
import subprocess
import sys
from pathlib import Path
from typing import IO

_ROOT = Path(__file__).resolve().parents[1]


def child_start(
    module: str,
    *arguments: str,
    stdin: IO[bytes] | int = subprocess.PIPE,
    stderr: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Run a module of ours in a process of its own, which limits itself first of all."""
    return subprocess.Popen(  # noqa: S603  our own interpreter and module
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=_ROOT,
        env={"PATH": "", "PYTHONPATH": str(_ROOT), "PYTHONHASHSEED": "0"},
    )


def child_end(child: subprocess.Popen[bytes]) -> None:
    """End a child and what connects it with us."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def limit_memory(most: int) -> None:
    """Let this process have so many bytes and no more."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
