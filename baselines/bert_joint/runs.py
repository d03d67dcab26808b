"""A run's folder: what it was made of, its checkpoints, its losses and its model."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from baselines.bert_joint.instances import Sampling
from baselines.nq.windows import Shape
from evaluation.files import EvaluationError

RECORD, LOSSES = "run.json", "losses.csv"
VERSIONS = ("torch", "transformers", "tokenizers", "safetensors", "numpy")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained; the defaults are the paper's, for a large encoder that was trained on SQuAD first.

    Attributes
    ----------
    rate, warmup, decay, clip
        AdamW's peak rate, reached after this share of the steps and then falling to 0; its weight decay; the norm that
        gradients are clipped to.
    batch, accumulate
        Windows of a step's part, and parts of a step.
    freeze
        Keep the embeddings and this many first layers as they are; 0 trains everything.
    """

    shape: Shape = field(default_factory=Shape)
    sampling: Sampling = field(default_factory=Sampling)
    rate: float = 3e-5
    warmup: float = 0.1
    decay: float = 0.01
    clip: float = 1.0
    epochs: int = 1
    batch: int = 8
    accumulate: int = 1
    freeze: int = 0
    seed: int = 0


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sources_of(recipe: Recipe, encoder: Iterable[Path], data: Iterable[Path]) -> dict[str, Any]:
    """Return what a run is made of: recipe, encoder, vocabulary and data by their hashes, and versions."""
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


def recipe_of(record: Mapping[str, Any]) -> Recipe:
    """Return the recipe of a record."""
    kept = dict(record["recipe"])
    return Recipe(**{**kept, "shape": Shape(**kept["shape"]), "sampling": Sampling(**kept["sampling"])})
