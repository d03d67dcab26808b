"""Writing data frames as files for other programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("csv", "parquet")


def write_frames(frames: Mapping[str, "pd.DataFrame"], folder: Path, form: str) -> list[Path]:
    """Write each frame as a file with its name to a folder, which is created; return the files.

    Raises
    ------
    OSError
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, frame in frames.items():
        path = folder / f"{name}.{form}"
        if form == "parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False)
        paths.append(path)
    return paths
