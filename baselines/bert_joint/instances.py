"""The training instances of BERT joint, in shards on disk that training reads without loading them whole."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from baselines.nq.examples import Example, read_examples
from baselines.nq.vocabulary import Vocabulary, vocabulary_read
from baselines.nq.windows import Shape, Windows, windows_of
from storage.child import end_with

SHARD = 1_000  # windows at least, before a shard is written
_PARTS = ("ids", "segments", "starts", "ends", "kinds")
DONE = "done.json"


class Batch(NamedTuple):
    """Instances in the form for training: shape (batch, length), and (batch,) for the targets."""

    ids: npt.NDArray[np.int64]
    mask: npt.NDArray[np.int64]
    segments: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sampling:
    """The share of the windows without an answer that are kept, and the seed that draws them."""

    nulls: float = 0.02
    seed: int = 0


def instances_write(
    files: Iterable[Path],
    folder: Path,
    *,
    vocabulary: Path,
    shape: Shape,
    sampling: Sampling,
    say: Callable[[str], object],
    workers: int = 1,
) -> int:
    """Write the instances of files into shards, and return how many there are.

    A file whose shards are complete is not read again. The same files and options give the same shards, with any number
    of workers: processes that each read one file at a time.

    Raises
    ------
    EvaluationError
        A file can't be read.
    """
    owns = {path: folder / f"{number:04d}" for number, path in enumerate(sorted(files))}
    left = [path for path, own in owns.items() if not (own / DONE).exists()]
    write = partial(_file_write, vocabulary=vocabulary, shape=shape, sampling=sampling)
    if min(workers, len(left)) < 2:
        for path in left:
            write(path, owns[path])
            say(f"{path.name} is read")
    else:
        with _pool(min(workers, len(left))) as pool:
            for path, _ in zip(left, pool.map(write, left, map(owns.get, left)), strict=True):
                say(f"{path.name} is read")
    return sum(json.loads((own / DONE).read_text())["instances"] for own in owns.values())


def _pool(workers: int) -> ProcessPoolExecutor:
    """Return worker processes that end with this one, and don't inherit its loaded modules."""
    context = get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=end_with, initargs=(os.getpid(),))


def _file_write(path: Path, own: Path, *, vocabulary: Path, shape: Shape, sampling: Sampling) -> None:
    own.mkdir(parents=True, exist_ok=True)
    known = _vocabulary(vocabulary)
    found = (windows_of(example, known, shape).kept(sampling.nulls, sampling.seed) for example in read_examples([path]))
    count = sum(_shard_write(own / f"{shard:05d}", part) for shard, part in enumerate(_shards(found)))
    part = own / f"{DONE}.part"
    part.write_text(json.dumps({"file": path.name, "instances": count}))
    part.replace(own / DONE)


@lru_cache(maxsize=1)
def _vocabulary(path: Path) -> Vocabulary:
    """Return the vocabulary of a run, kept in memory with its known words: in a run it never changes."""
    return vocabulary_read(path)


def _shards(found: Iterable[Windows]) -> Iterator[list[Windows]]:
    part, count = list[Windows](), 0
    for windows in found:
        part.append(windows)
        count += len(windows.kinds)
        if count >= SHARD:
            yield part
            part, count = [], 0
    if count:
        yield part


def _shard_write(stem: Path, part: list[Windows]) -> int:
    for name in _PARTS:
        np.save(stem.with_name(f"{stem.name}-{name}.npy"), np.concatenate([getattr(one, name) for one in part]))
    return sum(len(one.kinds) for one in part)


class Instances:
    """The instances of a folder, read from disk as they are asked for."""

    def __init__(self, folder: Path, padding: int) -> None:
        stems = sorted(path.with_name(path.name.removesuffix("-ids.npy")) for path in folder.glob("*/*-ids.npy"))
        self._shards = [
            {name: np.load(stem.with_name(f"{stem.name}-{name}.npy"), mmap_mode="r") for name in _PARTS}
            for stem in stems
        ]
        self._ends = np.cumsum([len(shard["kinds"]) for shard in self._shards], dtype=np.int64)
        self._padding = padding

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def batch(self, numbers: npt.NDArray[np.int64]) -> Batch:
        """Return some instances by their numbers."""
        rows: dict[str, list[npt.NDArray[np.int64]]] = {name: [] for name in _PARTS}
        for number in numbers:
            shard = int(np.searchsorted(self._ends, number, side="right"))
            row = int(number) - (int(self._ends[shard - 1]) if shard else 0)
            for name in _PARTS:
                rows[name].append(np.asarray(self._shards[shard][name][row], dtype=np.int64))
        ids, segments, starts, ends, kinds = (np.stack(rows[name]) for name in _PARTS)
        return Batch(ids, (ids != self._padding).astype(np.int64), segments, starts, ends, kinds)


def windows_for(example: Example, vocabulary: Vocabulary, shape: Shape, padding: int) -> tuple[Windows, Batch]:
    """Return all windows of an example, and as a batch."""
    windows = windows_of(example, vocabulary, shape)
    ids = windows.ids.astype(np.int64)
    parts = (windows.segments, windows.starts, windows.ends, windows.kinds)
    return windows, Batch(ids, (ids != padding).astype(np.int64), *(part.astype(np.int64) for part in parts))
