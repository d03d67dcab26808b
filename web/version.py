"""The version of the code, from pyproject.toml, and its commit."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

VERSION = "0.2.0"  # as pyproject.toml and the changelog say; a test compares them
UNKNOWN = "unknown"
_ROOT = Path(__file__).resolve().parents[1]


@cache
def commit() -> str:
    """Return the commit of the code from ``git describe``; for a build without git, the value of QUORATE_COMMIT."""
    if told := os.environ.get("QUORATE_COMMIT"):
        return told
    git = shutil.which("git")
    if git is None or not (_ROOT / ".git").exists():
        return UNKNOWN
    # The code belongs to root, and the service runs as another user.
    command = [git, "-c", f"safe.directory={_ROOT}", "-C", str(_ROOT), "describe", "--always", "--tags", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)  # noqa: S603
    return done.stdout.strip() or UNKNOWN
