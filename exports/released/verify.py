"""Check a release: that every file is there and unchanged, and that its tables are what the manifest says."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from annotation.tasktypes.columns import Kind
from exports.released.folder import MANIFEST, SUMS, FolderError, ReleasedFolder

MOST_OF_A_FILE = 10  # problems that are told of one file
_IS: dict[Kind, Callable[[Any], bool]] = {
    Kind.TEXT: lambda value: isinstance(value, str),
    Kind.JSON: lambda value: isinstance(value, str),
    Kind.INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    Kind.NUMBER: lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    Kind.BOOLEAN: lambda value: isinstance(value, bool),
}


def problems(folder: ReleasedFolder) -> Iterator[tuple[str, str]]:
    """Yield (file, what is wrong with it). Tables are read only where their files are unchanged."""
    changed = set()
    for name, what in _file_problems(folder):
        changed.add(name)
        yield name, what
    known = _item_ids(folder) if "tables/items.jsonl.gz" not in changed else None
    for key in folder.tables:
        name = f"tables/{key}.jsonl.gz"
        if name not in changed:
            for number, what in enumerate(_table_problems(folder, key, known)):
                if number == MOST_OF_A_FILE:
                    yield name, "and more"
                    break
                yield name, what


def _file_problems(folder: ReleasedFolder) -> Iterator[tuple[str, str]]:
    sums = _sums(folder.path / SUMS)
    for name, digest in sums.items():
        path = folder.path / name
        if not path.is_file():
            yield name, "is missing"
        elif _sha256(path) != digest:
            yield name, f"was changed: its sha256 is not the one in {SUMS}"
    for name, file in folder.manifest["files"].items():
        if sums.get(name) != file["sha256"]:
            yield name, f"{MANIFEST} and {SUMS} differ" if name in sums else f"is not in {SUMS}"
    there = {path.relative_to(folder.path).as_posix() for path in folder.path.rglob("*") if path.is_file()}
    for name in sorted(there - set(sums) - {SUMS}):
        yield name, "is no part of the release"


def _sums(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FolderError(f"{path}: cannot be read: {error}") from error
    sums = {}
    for number, line in enumerate(lines, 1):
        digest, blank, name = line.partition("  ")
        if not blank or Path(name).is_absolute() or ".." in Path(name).parts:
            raise FolderError(f"{path}: line {number}: expected a sha256, two blanks and the name of a file in here")
        sums[name] = digest
    return sums


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _item_ids(folder: ReleasedFolder) -> set[Any] | None:
    return {row.get("item_id") for row in folder.rows("items")} if "items" in folder.tables else None


def _table_problems(folder: ReleasedFolder, key: str, known: set[Any] | None) -> Iterator[str]:
    kinds = {one["name"]: Kind(one["type"]) for one in folder.tables[key]["columns"]}
    rows = 0
    for rows, row in enumerate(folder.rows(key), 1):
        if row.keys() != kinds.keys():
            yield f"line {rows}: its columns are not those of the manifest"
            continue
        for name, value in row.items():
            if value is not None and not _IS[kinds[name]](value):
                yield f"line {rows}: {name}: expected {kinds[name].value}"
        if known is not None and "item_id" in row and row["item_id"] not in known:
            yield f"line {rows}: item_id: there is no such item"
    said = folder.manifest["files"].get(f"tables/{key}.jsonl.gz", {}).get("rows")
    if rows != said:
        yield f"has {rows} rows, the manifest says {said}"
