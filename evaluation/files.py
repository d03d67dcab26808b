"""Files to score: found by patterns, read by `storage.text_files`."""

import glob
from pathlib import Path

from storage.text_files import FileFault

# Why nothing can be scored; printed to the person. Nearly always a file is at fault, so there is one class for both.
EvaluationError = FileFault


def matching_files(pattern: str) -> set[Path]:
    """Return the files that match a pattern, which a shell may have expanded already.

    Raises
    ------
    EvaluationError
        The pattern matches nothing.
    """
    found = {Path(pattern)} if Path(pattern).exists() else set(map(Path, glob.glob(pattern)))  # noqa: PTH207  patterns may be absolute
    if not found:
        raise EvaluationError(f"{pattern}: no such file")
    return found
