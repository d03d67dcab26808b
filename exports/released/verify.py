"""Check that all files of a release exist and are unchanged, and that its tables match the manifest.

Checksums prove that files are unchanged, not who created them.
"""

import hashlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from exports.released.folder import MANIFEST, SUMS, ReleasedFolder, row_problems, sums_of
from exports.released.parquet import ParquetFault, names_of, rows_of

MOST_OF_A_FILE = 10  # problems that are told of one file
ONE_AN_ITEM = ("items", "labels")


def problems(folder: ReleasedFolder) -> Iterator[tuple[str, str]]:
    """Yield pairs of a file and a problem. Tables are read only if their files are unchanged."""
    changed = set()
    for name, what in _file_problems(folder):
        changed.add(name)
        yield name, what
    known = _item_ids(folder) if "tables/items.jsonl.gz" not in changed else None
    for key in folder.tables:
        lines, parquet = f"tables/{key}.jsonl.gz", f"tables/{key}.parquet"
        if lines not in changed:
            for number, what in enumerate(_table_problems(folder, key, known)):
                if number == MOST_OF_A_FILE:
                    yield lines, "and more"
                    break
                yield lines, what
        if not {lines, parquet} & changed and parquet in folder.manifest["files"]:
            what = _parquet_problem(folder, key)
            if what:
                yield parquet, what


def _file_problems(folder: ReleasedFolder) -> Iterator[tuple[str, str]]:
    sums = sums_of(folder.path)
    for name, digest in sums.items():
        path = folder.path / name
        if _is_link(folder.path, path):
            yield name, "is a link or lies behind one"
        elif not path.is_file():
            yield name, "isn't a file" if path.exists() else "is missing"
        elif _sha256(path) != digest:
            yield name, f"was changed: its sha256 is not the one in {SUMS}"
    for name, file in folder.manifest["files"].items():
        if sums.get(name) != file["sha256"]:
            yield name, f"{MANIFEST} and {SUMS} differ" if name in sums else f"is not in {SUMS}"
    there = {
        path.relative_to(folder.path).as_posix()
        for path in folder.path.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    for name in sorted(there - set(sums) - {SUMS}):
        yield name, "isn't part of the release"


def _is_link(folder: Path, path: Path) -> bool:
    return any(one.is_symlink() for one in (path, *path.parents) if one.is_relative_to(folder) and one != folder)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _item_ids(folder: ReleasedFolder) -> set[str] | None:
    if "items" not in folder.tables:
        return None
    return {str(row.get("item_id")) for _line, row in folder.lines("items")}


def _table_problems(folder: ReleasedFolder, key: str, known: set[str] | None) -> Iterator[str]:
    kinds, seen = folder.kinds(key), set()
    rows = 0
    for rows, row in folder.lines(key):
        wrong = list(row_problems(row, kinds))
        yield from (f"line {rows}: {what}" for what in wrong)
        if wrong or "item_id" not in row:
            continue
        if known is not None and row["item_id"] not in known:
            yield f"line {rows}: item_id: there is no such item"
        if key in ONE_AN_ITEM and row["item_id"] in seen:
            yield f"line {rows}: item_id: this item was there before"
        if key in ONE_AN_ITEM:
            seen.add(row["item_id"])
    said = folder.manifest["files"].get(f"tables/{key}.jsonl.gz", {}).get("rows")
    if rows != said:
        yield f"has {rows} rows, the manifest says {said}"


def _parquet_problem(folder: ReleasedFolder, key: str) -> str:
    """Return the first difference of a table's Parquet file from its JSON lines; an empty text if there is none."""
    path, names = folder.path / f"tables/{key}.parquet", list(folder.kinds(key))
    try:
        if names_of(path) != names:
            return "its columns are not those of the manifest"
        for number, (row, line) in enumerate(zip_longest(rows_of(path, names), folder.lines(key)), 1):
            if row is None or line is None or row != tuple(line[1].get(name) for name in names):
                return f"row {number} is not that of the JSON lines"
    except ParquetFault as fault:
        return str(fault)
    return ""
