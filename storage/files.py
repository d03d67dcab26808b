"""Files that are there whole or not at all."""

import os
import tempfile
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage


class StoreAway(OSError):
    """The store does not answer for the moment, or says that it cannot; trying again later is right."""


class StoreRefuses(OSError):
    """The store says no, and would again: a bucket that is not there, a key that may not write."""


class WholeFileStorage(FileSystemStorage):
    """Write beside the place, then move: a crash leaves no half file under a final name."""

    def _save(self, name: str, content: Any) -> str:
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".part-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return name
