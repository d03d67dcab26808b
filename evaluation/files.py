"""Files that are scored: found by patterns, read by `storage.text_files`."""

import glob
from pathlib import Path

from storage.text_files import FileFault

# Why nothing can be scored; printed to the person. Nearly always a file is at fault, so there is one class for both.
EvaluationError = FileFault


def matching_files(pattern: str) -> set[Path]:
    """Return the files of a pattern, which a shell may have resolved already.

    Raises
    ------
    EvaluationError
        It fits none.
    """
    found = {Path(pattern)} if Path(pattern).exists() else set(map(Path, glob.glob(pattern)))  # noqa: PTH207  patterns may be absolute
    if not found:
        raise EvaluationError(f"{pattern}: no such file")
    return found
