"""A run's folder: the record of its inputs, its checkpoints, its losses and its model."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evaluation.files import EvaluationError

RECORD, WEIGHTS = "run.json", "model.safetensors"
VERSIONS = ("torch", "transformers", "tokenizers", "safetensors", "numpy")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sources_of(recipe: Any, encoder: Iterable[Path], data: Iterable[Path]) -> dict[str, Any]:
    """Return the inputs of a run: its recipe (a dataclass), hashes of encoder, vocabulary and data, and versions."""
    return {
        "recipe": asdict(recipe),
        "encoder": {path.name: sha256_of(path) for path in sorted(encoder)},
        "data": {path.name: sha256_of(path) for path in sorted(data)},
        "versions": {name: version(name) for name in VERSIONS},
    }


def run_begin(folder: Path, sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a run's folder, made now or by an earlier attempt at the same run.

    Raises
    ------
    EvaluationError
        The folder holds something else.
    """
    path = folder / RECORD
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text())
        different = [name for name in sources if found.get(name) != sources[name]]
        if different:
            raise EvaluationError(f"{folder}: holds a run with other {', '.join(different)}: choose another folder")
        return found
    if folder.exists() and any(folder.iterdir()):
        raise EvaluationError(f"{folder}: is not empty and holds no run")
    folder.mkdir(parents=True, exist_ok=True)
    record = {**sources, "steps": None, "losses": [], "seconds": 0.0}
    record_write(folder, record)
    return record


def record_write(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the record of a run, whole or not at all."""
    part = folder / f"{RECORD}.part"
    part.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    part.replace(folder / RECORD)


def record_read(folder: Path) -> dict[str, Any]:
    """Return the record of a run.

    Raises
    ------
    EvaluationError
        The folder has no record.
    """
    try:
        found: dict[str, Any] = json.loads((folder / RECORD).read_text())
    except (OSError, ValueError) as error:
        raise EvaluationError(f"{folder}: holds no run: {error}") from error
    return found
