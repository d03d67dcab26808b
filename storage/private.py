"""Files that are nobody else's business: what this installation writes, its owner alone can read."""

import os
import stat
from pathlib import Path

UMASK = 0o077


def keep_private() -> None:
    """Have every file and folder that this process makes readable by its owner only."""
    os.umask(UMASK)


def is_open_to_others(path: Path) -> bool:
    """Return whether anyone but the owner may read or enter a path that exists."""
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & UMASK)
    except FileNotFoundError:
        return False
