"""Private files: only the owner of this installation can read the files that it writes."""

import os
import stat
from pathlib import Path

UMASK = 0o077


def keep_private() -> None:
    """Make all new files and folders of this process readable by their owner only."""
    os.umask(UMASK)


def is_open_to_others(path: Path) -> bool:
    """Return whether anyone but the owner may read or enter an existing path."""
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & UMASK)
    except FileNotFoundError:
        return False
