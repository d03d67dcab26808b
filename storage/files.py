"""Files that are always complete: a file is either whole or absent."""

import os
import tempfile
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage


class StoreAway(OSError):
    """The store doesn't respond or is temporarily unavailable; try again later."""


class StoreRefuses(OSError):
    """The store refuses permanently: the bucket doesn't exist, or the key may not write."""


class WholeFileStorage(FileSystemStorage):
    """Storage that writes a temporary file and then moves it: a crash leaves no partial file under a final name."""

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
