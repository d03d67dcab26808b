"""Write the files of a frozen release, one finished file after another."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import orjson
from django.core.files import File
from django.core.files.storage import storages

from annotation.documents import tokens
from exports.formats.nq import RECORDS, shard_name
from exports.models import Release
from exports.selectors import Pseudonyms, item_order, released_items, shortfall_rows
from exports.writers.lines import WrittenFile, write_lines

MANIFEST_VERSION = 1
Progress = Callable[[int, int, str, dict[str, Any]], None]


class Target(Protocol):
    """Where finished files go."""

    def put(self, name: str, path: Path) -> None:
        """Put a finished file there, whole."""
        ...


class FolderTarget:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Move the file into place."""
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(path.read_bytes())
        part.replace(target)


class StorageTarget:
    """A release's folder in the releases storage."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def put(self, name: str, path: Path) -> None:
        """Save the file; one that a killed attempt left is replaced by the same bytes."""
        storage = storages["releases"]
        place = f"{self.folder}/{name}"
        if storage.exists(place):
            storage.delete(place)
        with path.open("rb") as file:
            storage.save(place, File(file))


def build_release(
    release: Release, target: Target, progress: Progress, finished: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Write every file of a release and return its manifest.

    Parameters
    ----------
    progress: called after each file with items done, items in all, the file's name and what to keep.
    finished: what an earlier attempt kept: those files are not written again.
    """
    files: dict[str, Any] = dict(finished or {})
    orders = {split: item_order(release, split) for split in release.splits}
    total = sum(map(len, orders.values()))
    pseudonyms = Pseudonyms(release)
    done = 0
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        for split, order in orders.items():
            for shard in range(release.shards):
                part = order[shard :: release.shards]
                names = (
                    shard_name(release.family, split, shard, release.shards),
                    f"sidecar/judgments-{split}-{shard:02d}.jsonl.gz",
                )
                if not all(name in files for name in names):
                    written = _write_shard(release, part, pseudonyms, Path(folder), target, names)
                    files |= {name: asdict(file) for name, file in zip(names, written, strict=True)}
                done += len(part)
                progress(done, total, names[0], files)
        shortfall = write_lines(Path(folder) / "shortfall", shortfall_rows(release))
        target.put("sidecar/shortfall.jsonl.gz", Path(folder) / "shortfall")
        files["sidecar/shortfall.jsonl.gz"] = asdict(shortfall)
        manifest = _manifest(release, files, {split: len(order) for split, order in orders.items()}, shortfall.rows)
        _put_text(target, Path(folder), "SHA256SUMS", _sums(files))
        _put_text(target, Path(folder), "manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n")  # fmt: skip
    return manifest


def _write_shard(
    release: Release, item_ids: list[int], pseudonyms: Pseudonyms, folder: Path, target: Target, names: tuple[str, str]
) -> tuple[WrittenFile, WrittenFile]:
    record = RECORDS[release.family]
    judgments: list[dict[str, Any]] = []

    def rows() -> Iterator[dict[str, Any]]:
        for item in released_items(release, item_ids, pseudonyms):
            judgments.extend(item.judgments)
            yield record(item.example, item.annotations)

    shard = write_lines(folder / "shard", rows())
    sidecar = write_lines(folder / "sidecar", judgments)
    target.put(names[1], folder / "sidecar")
    target.put(names[0], folder / "shard")
    return shard, sidecar


def _manifest(release: Release, files: dict[str, Any], items: dict[str, int], shortfall: int) -> dict[str, Any]:
    return {
        "manifest_version": MANIFEST_VERSION,
        "campaign": release.campaign.slug,
        "title": release.campaign.title,
        "synthetic": release.campaign.is_synthetic,
        "release": release.number,
        "format": release.family,
        "ways": release.ways,
        "seed": release.seed,
        "splits": items,
        "shortfall": shortfall,
        "tokenizer": f"{tokens.SOURCE}/{tokens.VERSION}",
        "files": dict(sorted(files.items())),
    }


def _sums(files: dict[str, Any]) -> str:
    return "".join(f"{file['sha256']}  {name}\n" for name, file in sorted(files.items()))


def _put_text(target: Target, folder: Path, name: str, text: str) -> None:
    path = folder / "text"
    path.write_text(text, encoding="utf-8")
    target.put(name, path)
